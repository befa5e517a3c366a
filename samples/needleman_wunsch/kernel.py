"""Global alignment: every cell from its three neighbours above and to the left."""


def needleman_wunsch(a, b, score, match, gap):
    for i in range(1, score.shape[0]):
        for j in range(1, score.shape[1]):
            similarity = match if a[i - 1] == b[j - 1] else -match
            best = score[i - 1, j - 1] + similarity
            best = max(best, score[i - 1, j] - gap)
            best = max(best, score[i, j - 1] - gap)
            score[i, j] = best
