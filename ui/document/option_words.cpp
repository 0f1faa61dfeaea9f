#include "ui/document/option_words.h"

#include <QRegularExpression>

#include "ir/graph.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

struct Words {
  const char* option;  ///< a regular expression; longer ones come first
  const char* words;
};
constexpr Words kWords[] = {
    {"--pin NODE=TYPE", "a pin"},
    {"--output-type NODE=TYPE", "an output type"},
    {"--pin (?='|\\S+=)", "pin "},
    {"--output-type (?=\\S+=)", "output type "},
    {"--no-fuse (?=[^\\s,;:]+)", "no fusion by "},
    // The window cannot run this command, so that it is shown as it is typed.
    {"(fusescope import .+) --input (?=NAME=)", "\\1 --input="},
    {"--input (\\S+=\\S*[^\\s.,;])", "\\1 as --input on the command line"},
    {"--truncate-(inputs|constants) long\\b", "truncating \\1 from int64 to int32"},
    {"--truncate-(inputs|constants) double\\b", "truncating \\1 from float64 to float32"},
    {"--truncate-(inputs|constants) all\\b", "truncating \\1 of both wide types"},
    {"--truncate long\\b", "truncating int64 to int32"},
    {"--truncate double\\b", "truncating float64 to float32"},
    {"--truncate all\\b", "truncating both wide types"},
    {"--truncate none\\b", "truncating nothing"},
    {"--to (\\w+)", "the format \\1"},
    {"--trt-version ([\\d.]+)", "\\1 as the version of TensorRT"},
    {"--trt-version", "the version of TensorRT"},
    {"the log of a verbose build with --layer-names", "the log of a verbose build under Layer names"},
    {"--layer-names", "the log of a verbose build under Layer names"},
    {"--no-fuse", "the fusion rule"},
    {"Make them with: fusescope calibrate .* give --ranges\\.", "Make them with Calibrate…, in the Build menu."},
    {"--precision int8 \\(or int8,f16\\)", "int8 as precision"},
    {"with --ranges\\b", "with ranges, which Calibrate… in the Build menu makes"},
    {"with fusescope errors", "by the errors of layers"},
    {"fusescope build measures", "a build measures"},
    {"with fusescope tune, and export with its directives", "with Tune…, and take them before you export"},
    {"plan with --target tensorrt-11", "plan for the target tensorrt-11"},
    {"calibrate with --symmetric", "calibrate with symmetric codes"},
    {"--inputs F", "checking its numbers on inputs"},
    {"--tol-rms", "the tolerance of the session"},
    {"--max-error", "the largest error"},
    {"--min-speedup", "a least speed-up"},
    {"Give a file that --resume wrote", "Start the search anew"},
    {"--(?:pin|directives)", "the directive"},
    {"--weight-only", "weights alone in"},
    {"--min-segment", "segments of at least"},
    {"--(target|precision|workspace|ranges|split|fallback|block|exclude)\\b", "\\1"},
};

}  // namespace

QString withoutOptions(const QString& text) {
  QString said = text;
  if (!said.contains(QLatin1String("--")) && !said.contains(QLatin1String("fusescope "))) return said;
  for (const Words& words : kWords)
    said.replace(QRegularExpression(QString::fromUtf8(words.option)), QString::fromUtf8(words.words));
  return said;
}

QString inWindowWords(const Decision& decision) {
  return withoutOptions(qs(message(decision)));
}

QString inWindowWords(const WhatIf& whatIf) {
  const Directive& directive = whatIf.directive;
  if (!canBeDone(whatIf)) return withoutOptions(qs(whatIf.change));
  const QString words = qs(inWords(directive));
  return directive.id.empty() ? words : QStringLiteral("without “%1”").arg(words);
}

bool canBeDone(const WhatIf& whatIf) {
  return !whatIf.directive.pattern.empty() || whatIf.directive.kind != DirectiveKind::Pin;
}

QString problemText(const Diagnostic& problem) {
  return withoutOptions(qs(problem.text()));
}

QString problemInWords(const Diagnostic& problem) {
  QString said = withoutOptions(qs(problem.message));
  if (!said.isEmpty()) said[0] = said[0].toUpper();
  if (!said.endsWith(QLatin1Char('.'))) said += QLatin1Char('.');
  if (!problem.where.node.empty()) said.prepend(qs(problem.where.node) + QStringLiteral(": "));
  return problem.help.empty() ? said : said + QLatin1Char(' ') + withoutOptions(qs(problem.help));
}

}  // namespace fusescope
