compiled = []


def clear_compilation_metrics():
    compiled.clear()


def get_compilation_metrics():
    return compiled
