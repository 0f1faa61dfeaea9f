#include "ui/document/shown_error.h"

#include <QStringList>
#include <cmath>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// An error of at most this share of the bound is far within it; an error of at least the inverse is far beyond.
constexpr double kFar = 0.1;

const QString kCannotBeDetermined = QStringLiteral("cannot be determined");
const QString kWhyNot = QStringLiteral("all of it is infinite or NaN in the reference, too");

void addShare(QStringList& facts, double share, const QString& what) {
  if (share > 0) facts << QStringLiteral("%1 % %2").arg(QString::number(100 * share, 'g', 2), what);
}

}  // namespace

ShownError ShownErrors::find(const std::string& handle) const {
  const auto found = of.find(handle);
  return found == of.end() ? ShownError() : found->second;
}

namespace {

ErrorLevel levelByItself(const std::optional<TensorError>& error, double bound) {
  if (!error) return ErrorLevel::Unknown;
  if (!error->isMeaningful()) return ErrorLevel::CannotBeDetermined;
  if (error->nonFinite > 0 || !std::isfinite(error->maxAbs)) return ErrorLevel::NotFinite;
  if (error->maxAbs == 0) return ErrorLevel::Exact;
  const double share = fractionOfBound(*error, bound);
  if (share <= kFar) return ErrorLevel::FarWithin;
  if (share <= 1) return ErrorLevel::Within;
  return kFar * share <= 1 ? ErrorLevel::Beyond : ErrorLevel::FarBeyond;
}

}  // namespace

ErrorLevel levelOf(const ShownError& error, Which which, double bound) {
  const ErrorLevel level = levelByItself(error.errors.*which, bound);
  return isWrong(level) && !error.reachesOutput ? ErrorLevel::Harmless : level;
}

QString levelText(ErrorLevel level) {
  switch (level) {
    case ErrorLevel::CannotBeDetermined:
      return QStringLiteral("%1: no finite number is expected").arg(kCannotBeDetermined);
    case ErrorLevel::Exact:
      return QStringLiteral("exact");
    case ErrorLevel::FarWithin:
      return QStringLiteral("below a tenth of what is allowed");
    case ErrorLevel::Within:
      return QStringLiteral("within what is allowed");
    case ErrorLevel::Harmless:
      return QStringLiteral("beyond, but it makes no output wrong");
    case ErrorLevel::Beyond:
      return QStringLiteral("beyond what is allowed");
    case ErrorLevel::FarBeyond:
      return QStringLiteral("more than ten times beyond");
    case ErrorLevel::NotFinite:
      return QStringLiteral("infinite or NaN");
    case ErrorLevel::Unknown:
      break;
  }
  return QStringLiteral("not known");
}

namespace {

/// Returns the error with as few digits as possible, but at least `least`, so that it differs visibly from `bound`.
QString besideBound(double error, double bound, int least) {
  constexpr int kMostDigits = 6;
  for (int digits = least; digits < kMostDigits; ++digits) {
    const QString text = QString::number(error, 'g', digits);
    const double shown = text.toDouble();
    if (error == bound || (shown != bound && (shown > bound) == (error > bound))) return text;
  }
  return QString::number(error, 'g', kMostDigits);
}

/// Shortens numbers, for example to "15.7 M": the distance of numbers that were lost has many digits, which nobody
/// reads.
QString ulpText(double ulp) {
  constexpr double kFirstShort = 1000, kMost = 1e15;
  return ulp >= kFirstShort && ulp < kMost ? countText(static_cast<std::int64_t>(ulp)) : errorText(ulp);
}

}  // namespace

QString shortErrorText(const std::optional<TensorError>& error, double bound) {
  if (!error) return {};
  if (!error->isMeaningful()) return QStringLiteral("?");
  if (error->nonFinite > 0 || !std::isfinite(error->maxOverRms)) return QStringLiteral("∞");
  QString text = besideBound(judgedError(*error), bound, 1);
  return text.replace(QStringLiteral("e-0"), QStringLiteral("e-")).replace(QStringLiteral("e+0"), QStringLiteral("e"));
}

QString errorPairText(const ShownError& error, Which which, double bound) {
  const auto& one = error.errors.*which;
  if (!one) return {};
  const auto text = [bound](double number) {
    return std::isfinite(number) ? besideBound(number, bound, 2) : QStringLiteral("∞");
  };
  const QString pair = one->isMeaningful()
                           ? QStringLiteral("%1 / %2").arg(
                                 one->nonFinite > 0 ? QStringLiteral("∞") : text(one->maxOverRms), text(one->relL2))
                           : kCannotBeDetermined;
  return error.kind == ErrorKind::OfOtherPlan ? QStringLiteral("[%1]").arg(pair) : pair;
}

QString errorFactsText(const TensorError& error) {
  if (!error.isMeaningful()) return QStringLiteral("%1: %2").arg(kCannotBeDetermined, kWhyNot);
  QStringList facts{QStringLiteral("max|Δ| %1 of rms").arg(errorText(error.maxOverRms)),
                    QStringLiteral("relative L2 %1").arg(errorText(error.relL2)),
                    (error.codes ? QStringLiteral("%1 steps") : QStringLiteral("%1 ulp")).arg(ulpText(error.ulp))};
  if (!std::isnan(error.cosine)) facts << QStringLiteral("cosine %1").arg(QString::number(error.cosine, 'g', 7));
  addShare(facts, error.nonFinite, QStringLiteral("became infinite or NaN"));
  addShare(facts, error.expectedNonFinite, QStringLiteral("are infinite or NaN in the reference"));
  addShare(facts, error.saturated, QStringLiteral("at the end of the type's range"));
  addShare(facts, error.underflowed, QStringLiteral("became zero"));
  return facts.join(QStringLiteral(" · "));
}

QString roleText(const ShownError& error, double bound) {
  const ErrorLevel local = levelOf(error, &LocalAndCarried::local, bound);
  const ErrorLevel carried = levelOf(error, &LocalAndCarried::carried, bound);
  if (isWrong(local))
    return QStringLiteral("This node is a culprit: its result is wrong although its inputs are exact.");
  if (isWrong(carried)) return QStringLiteral("A victim: right by itself, wrong because of its inputs.");
  if (local == ErrorLevel::Harmless || carried == ErrorLevel::Harmless)
    return QStringLiteral("It is wrong, but no output of the network goes wrong by it: what reads it is right.");
  if (local == ErrorLevel::CannotBeDetermined)
    return QStringLiteral("Whether it is wrong %1: %2.").arg(kCannotBeDetermined, kWhyNot);
  return error.errors.local ? QStringLiteral("It is not wrong: %1 by itself.").arg(levelText(local))
                            : QStringLiteral("Its own error is not known.");
}

}  // namespace fusescope
