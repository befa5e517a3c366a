"""What stands beside a function for its derivatives."""
