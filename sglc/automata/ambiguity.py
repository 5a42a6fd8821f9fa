def overlap(a, b):
    return None


def junction_conflict(l, s):
    return None
