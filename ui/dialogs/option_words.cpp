#include "ui/dialogs/option_words.h"

#include <QRegularExpression>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

struct Words {
  const char* option;  ///< a regular expression; longer ones first
  const char* words;
};
constexpr Words kWords[] = {
    {"--pin NODE=TYPE", "a pin"},
    {"--output-type NODE=TYPE", "an output type"},
    {"--to (\\w+)", "the format \\1"},
    {"--trt-version ([\\d.]+)", "\\1 as the version of TensorRT"},
    {"--trt-version", "the version of TensorRT"},
    {"the log of a verbose build with --layer-names", "the log of a verbose build under Layer names"},
    {"--layer-names", "the log of a verbose build under Layer names"},
    {"--no-fuse", "the fusion rule"},
    {"Make them with: fusescope calibrate .* give --ranges\\.", "Make them with Calibrate…, in the Build menu."},
    {"--precision int8 \\(or int8,f16\\)", "int8 as precision"},
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
};

}  // namespace

QString withoutOptions(const QString& text) {
  QString said = text;
  for (const Words& words : kWords)
    said.replace(QRegularExpression(QString::fromUtf8(words.option)), QString::fromUtf8(words.words));
  return said;
}

QString problemInWords(const Diagnostic& problem) {
  QString said = qs(problem.message);
  if (!said.isEmpty()) said[0] = said[0].toUpper();
  if (!said.endsWith(QLatin1Char('.'))) said += QLatin1Char('.');
  if (!problem.where.node.empty()) said.prepend(qs(problem.where.node) + QStringLiteral(": "));
  return withoutOptions(problem.help.empty() ? said : said + QLatin1Char(' ') + qs(problem.help));
}

}  // namespace fusescope
