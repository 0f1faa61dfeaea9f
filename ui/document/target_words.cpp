#include "ui/document/target_words.h"

#include <QDir>
#include <algorithm>

#include "planning/read_back/read_back_plan.h"
#include "ui/document/made_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Returns a text such as "openvino 2026.4.1, in ~/venv/bin/python".
QString withPlace(const CompilerIdentity& compiler) {
  const QString title = compilerTitle(compiler);
  QString place = qs(compiler.environment);
  if (const QString home = QDir::homePath(); place.startsWith(home + QLatin1Char('/')))
    place = QLatin1Char('~') + place.mid(home.size());
  return place.isEmpty() ? title : QStringLiteral("%1, in %2").arg(title, place);
}

QString whoBuilds(const Cover& cover, const Compilers& compilers) {
  if (const ReadBackPlan* made = asReadBack(cover)) return QStringLiteral("built by ") + withPlace(made->compiler);
  const std::string name = builderFor(requestedPlan(cover));
  const QString planned = QStringLiteral("planned and exported here");
  if (name.empty()) return planned + QStringLiteral(", not built: this program has no compiler for it");
  if (compilers.facts(name) == nullptr)
    return planned + QStringLiteral("; %1 is asked whether it can build it").arg(qs(name));
  const QString why = compilers.whyNot(name, Ability::Compile);
  if (!why.isEmpty()) return planned + QStringLiteral(", not built. ") + why;
  return QStringLiteral("a prediction; it can be built by ") + withPlace(compilers.facts(name)->identity);
}

}  // namespace

std::string builderFor(const Plan& plan) {
  if (plan.options.compiler != kOwnCompiler) return plan.options.compiler;
  if (!plan.target.planningOnly) return std::string(kOwnCompiler);
  const auto compilers = allCompilers();
  const auto found = std::ranges::find(compilers, plan.target.name, &Compiler::target);
  return found == compilers.end() ? std::string() : std::string((*found)->name());
}

const Compiler* otherBuilder(const Plan& plan, const Compilers& compilers) {
  if (plan.options.compiler != kOwnCompiler || !plan.target.planningOnly) return nullptr;
  const std::string name = builderFor(plan);
  return name.empty() || !compilers.whyNot(name, Ability::Compile).isEmpty() ? nullptr : findCompiler(name);
}

QString onlyPlannedText(const Plan& plan, const Compilers& compilers) {
  const QString target = qs(plan.target.name);
  const std::string name = builderFor(plan);
  if (name.empty()) return QStringLiteral("%1 is planned for here; engines are built for the target cpu.").arg(target);
  const QString planned = QStringLiteral("Our own compiler only plans for the target %1").arg(target);
  const QString why = compilers.whyNot(name, Ability::Compile);
  return why.isEmpty() ? QStringLiteral("%1; the compiler %2 builds for it.").arg(planned, compilers.title(name))
                       : QStringLiteral("%1. %2").arg(planned, why);
}

QString runsOn(const Cover& cover, const Segment& segment) {
  const bool isOnlyPlanned = cover.target.planningOnly && cover.options.compiler == kOwnCompiler;
  return qs(isOnlyPlanned && segment.kind == SegmentKind::Accelerated ? cover.target.name : segment.backend);
}

QString targetText(const Cover& cover, const Compilers& compilers) {
  const Plan& plan = requestedPlan(cover);
  const QString target = qs(plan.target.name);
  if (!plan.target.planningOnly) return target;
  return QStringLiteral("%1: %2").arg(target, whoBuilds(cover, compilers));
}

}  // namespace fusescope
