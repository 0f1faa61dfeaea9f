"""Prints the rows for people, as a table of Markdown."""
from .engines import OWN
from .ratios import Ratio, geometric_mean

UNPLACED = 0.02  # share of a peer's time: if more of it is not attributed to layers, this is reported


def heading(peers):
    columns = ["network", "type", "threads", f"{OWN.name} ms"]
    for peer in peers:
        columns += [f"{peer} ms", "ratio (least to most)"]
    columns += ["peak MiB (of bound)", "largest error", "notes"]
    return line(columns) + "\n" + line("---" for _ in columns)


def line(cells):
    return "| " + " | ".join(cells) + " |"


def row_text(row, peers):
    name, precision, threads = row["key"]
    cells = [name, precision, str(threads), time_text(row, OWN.name)]
    for peer in peers:
        cells += [time_text(row, peer), ratio_text(row["ratios"].get(peer))]
    errors = [f"{float(error['max_over_rms']):.1e}" for error in row["errors"].values()]
    return line(cells + [memory_text(row.get("memory")), max(errors, key=float, default=""), notes(row)])


def memory_text(memory):
    """Returns the largest memory of a run from an engine file, and its share of the permitted memory."""
    if not memory:
        return ""
    bound = 1.15 * memory["weight_bytes"] + 1.3 * memory["live_bytes"] + 64 * 2**20
    return f"{memory['peak_resident_bytes'] / 2**20:.0f} ({memory['peak_resident_bytes'] / bound:.2f})"


def time_text(row, engine):
    times = row["engines"].get(engine, {})
    return f"{times['median_ms']:.3f}" if times.get("median_ms") is not None else "–"


def ratio_text(ratio):
    if ratio is None:
        return "–"
    of = Ratio(ratio["rounds"])
    return f"{of.median:.2f} ({of.least:.2f} to {of.most:.2f})"


def notes(row):
    texts = [f"{name}: {cell['reason'][:200]}" for name, cell in row["engines"].items() if cell.get("reason")]
    texts += [f"{name} is off: {text}" for name, text in row["differs"].items()]
    if row.get("against_f32"):
        texts.append("against f32: " + ", ".join(f"{name} {error if isinstance(error, str) else f'{error:.2e}'}"
                                                 for name, error in row["against_f32"].items()))
    if row.get("unquiet"):
        texts.append("not quiet: " + ", ".join(row["unquiet"]))
    return "; ".join(texts).replace("|", "\\|").replace("\n", " ")


def means_text(rows, peers):
    """Returns a line for each peer, type and number of threads."""
    lines = []
    for precision, threads in dict.fromkeys((row["key"][1], row["key"][2]) for row in rows):
        for peer in peers:
            ratios = [Ratio(row["ratios"][peer]["rounds"]) for row in rows
                      if row["key"][1:] == [precision, threads] and peer in row["ratios"]]
            if not ratios:
                continue
            mean, least, most = geometric_mean(ratios)
            worst = max(each.median for each in ratios)
            lines.append(f"{precision}, {threads} threads: geometric mean {mean:.3f} of {peer} "
                         f"({least:.3f} to {most:.3f} by rounds) over {len(ratios)} networks, worst {worst:.2f}")
    return "\n".join(lines)


def losses_text(row):
    if not row.get("losses"):
        return ""
    peer = row["losses_to"]
    lines = [f"  {loss['lost_ms']:+.3f} ms  {loss['kind']}: {loss['own_ms']:.3f} against {loss['peer_ms']:.3f}"
             f"  ({loss['tactic']}; {peer}: {loss['peer_kernel'] or 'none'})" for loss in row["losses"]]
    profiled = ", ".join(f"{name} {ms:.3f} ms" for name, ms in row["profiled_ms"].items())
    if row["peer_elsewhere_ms"] > UNPLACED * row["profiled_ms"][peer]:
        lines.append(f"  {row['peer_elsewhere_ms']:.3f} ms of {peer} are of layers under names that the file does not have")
    return "\n".join([f"{row['key'][0]}: largest losses by layers (in all {profiled})", *lines])
