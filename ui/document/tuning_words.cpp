#include "ui/document/tuning_words.h"

#include "ui/document/qt_text.h"

namespace fusescope {

QString triedWords(const TunedTry& tried) {
  const QString pins = tried.pins == 0 ? QStringLiteral("no pin") : plural(tried.pins, QStringLiteral("pin"));
  return QStringLiteral("%1 done, trying %2").arg(plural(tried.evaluations, QStringLiteral("evaluation")), pins);
}

QString bestWords(const TunedPoint& best) {
  return QStringLiteral("best so far: %1, error %2")
      .arg(plural(best.pins, QStringLiteral("pin")), errorText(best.error));
}

}  // namespace fusescope
