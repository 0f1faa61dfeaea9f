#include "ui/dialogs/tune_words.h"

#include <QStringList>
#include <algorithm>
#include <cmath>

#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"
#include "ui/document/shown_time.h"

namespace fusescope {

namespace {

QString timeWords(const TunedPoint& point) {
  return timeText({point.how == PriceSource::Measured ? TimeKind::Predicted : TimeKind::Fitted, *point.ms});
}

QString costWords(const TunedPoint& point) {
  if (point.ms) return timeWords(point);
  const QString moved =
      point.bytes ? bytesText(*point.bytes) + QStringLiteral(" moved") : QStringLiteral("bytes not known");
  return QStringLiteral("%1, %2").arg(plural(point.casts, QStringLiteral("cast")), moved);
}

QString pinsWords(std::int64_t pins) {
  return plural(pins, QStringLiteral("pin"));
}

/// Returns how everything pinned is better than `point`, such as "faster (≈ 1 ms against ≈ 2 ms) and has less error (0
/// against 0.004)". It is empty unless everything pinned is faster and has no larger error.
QString betterWords(const TunedPoint& all, const TunedPoint& point) {
  if (!all.ms || !point.ms || *all.ms >= *point.ms || !(all.error <= point.error)) return {};
  const QString faster = QStringLiteral("faster (%1 against %2)").arg(timeWords(all), timeWords(point));
  if (all.error == point.error) return faster + QStringLiteral(" and has the same error");
  return faster +
         QStringLiteral(" and has less error (%1 against %2)").arg(errorText(all.error), errorText(point.error));
}

/// Describes the errors of a point that was also evaluated on the reference.
QString errorsWords(const TunedPoint& point, const std::string& backend) {
  return QStringLiteral("Its error is %1 by the backend %2 and %3 by the reference.")
      .arg(errorText(point.errorHere.value_or(NAN)), qs(backend), errorText(*point.errorOnReference));
}

void addExported(QStringList& lines, const TuneAnswer& answer) {
  if (answer.searchLimit && answer.maxError && *answer.searchLimit < *answer.maxError)
    lines << QStringLiteral("A set within %1 exceeded that once it was exported, so that the search went on for %2.")
                 .arg(errorText(*answer.maxError), errorText(*answer.searchLimit));
  if (answer.exported)
    lines << QStringLiteral(
                 "The network that Export writes with these pins has an error of %1 on the reference and %2 "
                 "on the engine.")
                 .arg(errorText(answer.exported->onReference), errorText(answer.exported->onEngine));
  if (!answer.exportRefused.empty())
    lines << QStringLiteral("⚠ Export refuses the network with these pins: %1")
                 .arg(withoutOptions(qs(answer.exportRefused)));
}

/// Returns the number of pins that the plan had before the search; they do not count as its result.
std::int64_t keptPins(const TuneAnswer& answer) {
  return pinsBefore(answer.options, answer.pins.size());
}

/// Returns "No pin", or "No further pin" if the plan has some already.
QString noPin(const TuneAnswer& answer) {
  return keptPins(answer) == 0 ? QStringLiteral("No pin") : QStringLiteral("No further pin");
}

/// Says whether each of the pins is needed, for the error or for the time.
QString leftOutWords(const TuneAnswer& answer) {
  const std::optional<double>& bound = answer.searchLimit ? answer.searchLimit : answer.maxError;
  const auto good = std::ranges::count_if(
      answer.pins, [&](const TunedPin& pin) { return bound && pin.errorWithout && *pin.errorWithout <= *bound; });
  if (!answer.minimal) return QStringLiteral("There may be a pin too many: not each was tried.");
  if (good == 0) return QStringLiteral("No single pin can be left out: each was tried.");
  return QStringLiteral(
             "Each pin was tried: without any one of %1 the error stays within what is allowed, but the network is "
             "slower.")
      .arg(good == std::ssize(answer.pins) ? QStringLiteral("them") : QStringLiteral("%1 of them").arg(good));
}

/// Adds an explanation if more was pinned than the error requires.
void addBeaten(QStringList& lines, const TuneAnswer& answer) {
  if (!answer.beatenByAllPinned) return;
  const TunedPoint& beaten = *answer.beatenByAllPinned;
  const QString enough = beaten.pins == 0 ? noPin(answer) + QStringLiteral(" is needed for such an error")
                                          : pinsWords(beaten.pins) + QStringLiteral(" would be enough");
  const QString chosen = answer.chosen.pins == answer.pinnable
                             ? QStringLiteral("so that everything is pinned: on this machine lowering does not pay")
                             : QStringLiteral("so that more is pinned, until the network is no slower than that");
  lines << QStringLiteral(
               "%1, but with everything pinned the network is %2, %3. Where time is not what matters, choose that "
               "point in the plot.")
               .arg(enough, betterWords(answer.allPinned, beaten), chosen);
}

/// Returns a text such as " Pins that known searches need: prefix 12, greedy 7." It contains only the searches that
/// came to their end.
QString baselinesWords(const std::vector<TunedBaseline>& baselines) {
  QStringList parts;
  for (const TunedBaseline& baseline : baselines)
    if (baseline.finished)
      parts << QStringLiteral("%1 %2").arg(
          qs(baseline.name), baseline.pins ? QString::number(*baseline.pins) : QStringLiteral("finds none"));
  if (parts.isEmpty()) return {};
  return QStringLiteral(" Pins that known searches need: %1.").arg(parts.join(QStringLiteral(", ")));
}

/// Describes the effort of the search: the samples, the number of evaluations and the time.
QString effortWords(const TuneAnswer& answer) {
  const QString samples = answer.randomInputs ? QStringLiteral("random sample") : QStringLiteral("sample");
  return QStringLiteral("%1 on %2, errors by the backend %3, %4 s%5.")
      .arg(plural(answer.evaluations, QStringLiteral("evaluation")), plural(answer.samples, samples),
           qs(answer.backend))
      .arg(answer.seconds, 0, 'f', 1)
      .arg(answer.end == "finished"
               ? QString()
               : QStringLiteral(", ended by: %1; a new start continues from there").arg(qs(answer.end)));
}

}  // namespace

QString pointWords(const TunedPoint& point) {
  if (std::isnan(point.error)) return QStringLiteral("not evaluated");
  return QStringLiteral("error %1, %2, %3").arg(errorText(point.error), pinsWords(point.pins), costWords(point));
}

ErrorPlotContent tunePlotContent(const std::vector<TunedPoint>& points, const std::optional<TunedPoint>& chosen,
                                 std::optional<double> allowed) {
  ErrorPlotContent content{
      .allowed = allowed,
      .none = QStringLiteral("No set of pins was evaluated yet"),
      .hint = QStringLiteral(
          "Each set of pins that is tried appears here as a point, with its error against its predicted time.")};
  content.inTime = std::ranges::all_of(points, [](const TunedPoint& point) { return point.ms.has_value(); });
  content.title = content.inTime ? QStringLiteral("error (max|Δ| of rms) against predicted time")
                                 : QStringLiteral("error (max|Δ| of rms) against pins: not all have a time");
  const auto plotted = [&](const TunedPoint& point) {
    return PlotPoint{.across = content.inTime ? point.ms.value_or(0) : static_cast<double>(point.pins),
                     .error = point.error,
                     .words = pointWords(point)};
  };
  for (const TunedPoint& point : points) content.points.push_back(plotted(point));
  if (chosen) content.ringed = plotted(*chosen);
  return content;
}

QString answerWords(const TuneAnswer& answer) {
  QStringList lines;
  lines << (answer.ok ? QStringLiteral("✓ Found: ") : QStringLiteral("✗ Not reached; the nearest: ")) +
               pointWords(answer.chosen) +
               QStringLiteral(", of %1.")
                   .arg(plural(answer.pinnable, QStringLiteral("node that could be pinned"),
                               QStringLiteral("nodes that could be pinned")));
  if (answer.ok && answer.pins.empty()) lines.last() += QStringLiteral(" %1 is needed.").arg(noPin(answer));
  if (const std::int64_t kept = keptPins(answer); kept > 0)
    lines.last() += QStringLiteral(" The plan keeps %1 that it has, which %2 not counted.")
                        .arg(plural(kept, QStringLiteral("pin")), kept == 1 ? "is" : "are");
  if (answer.chosen.errorOnReference) lines << errorsWords(answer.chosen, answer.backend);
  addExported(lines, answer);
  lines << QStringLiteral("Without %1: %2. With all: %3.")
               .arg(keptPins(answer) == 0 ? "pins" : "further pins", pointWords(answer.unpinned),
                    pointWords(answer.allPinned));
  addBeaten(lines, answer);
  if (answer.ok && !answer.pins.empty()) lines << leftOutWords(answer) + baselinesWords(answer.baselines);
  lines << effortWords(answer);
  if (answer.randomInputs) lines << QStringLiteral("⚠ On random inputs: no others were given.");
  return lines.join(QLatin1Char('\n'));
}

QString choiceWords(const TunedPoint& point, const TuneAnswer& answer) {
  QStringList said{QStringLiteral("Chosen in the plot: %1.").arg(pointWords(point))};
  if (point.errorOnReference)
    said << errorsWords(point, answer.backend);
  else
    said << QStringLiteral("Its error was measured by the backend %1 only: it was not tried on the reference.")
                .arg(qs(answer.backend));
  if (point.pins != answer.chosen.pins || point.error != answer.chosen.error)
    said << QStringLiteral("It was not tried whether the exported network has the same error.");
  if (const QString better = betterWords(answer.allPinned, point); !better.isEmpty())
    said << QStringLiteral("⚠ With everything pinned the network is %1.").arg(better);
  return said.join(QLatin1Char(' '));
}

}  // namespace fusescope
