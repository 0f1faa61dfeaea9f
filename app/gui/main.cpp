#include <CLI/CLI.hpp>
#include <QApplication>
#include <QScreen>
#include <QSettings>
#include <cstdio>

#include "base/files.h"
#include "base/text.h"
#include "calibration/ranges.h"
#include "planning/directives/directive_form.h"
#include "planning/directives_file.h"
#include "session/inputs/sample_source.h"
#include "session/operations/shared_settings.h"
#include "session/options_json.h"
#include "session/process_start.h"
#include "ui/canvas/color_mode.h"
#include "ui/document/qt_text.h"
#include "ui/window/main_window.h"
#include "ui/window/picture_run.h"

namespace fusescope {
namespace {

struct Arguments {
  std::string model, directivesFile, rangesFile, compiler, target, precision, screenshot, size = "1440x900", theme,
                                                                                          select, dock, color;
  SampleSource inputs;
  double scale = 1.0;
  std::vector<std::string> expand;
  std::vector<std::vector<std::string>> directives;  ///< their arguments, by DirectiveKind
  bool build = false, errors = false, twoViews = false, original = false;
};

Result<PlanOptions> planOptions(const Arguments& arguments) {
  PlanOptions options;
  if (!arguments.directivesFile.empty()) adopt(TRY(readDirectivesFile(arguments.directivesFile)), options);
  if (!arguments.compiler.empty()) {
    options.compiler = arguments.compiler;
    const Compiler* compiler = findCompiler(arguments.compiler);
    if (compiler != nullptr && !compiler->target().empty()) options.target = compiler->target();
  }
  if (!arguments.target.empty()) options.target = arguments.target;
  TRY(compilerFor(options));
  if (arguments.precision == "f32")
    options.precisions.clear();
  else if (!arguments.precision.empty())
    options.precisions = TRY(parsePrecisions(arguments.precision));
  if (!arguments.rangesFile.empty())
    options.ranges = std::make_shared<const Ranges>(TRY(readRanges(arguments.rangesFile)));
  for (std::size_t i = 0; i < arguments.directives.size(); ++i)
    for (const std::string& text : arguments.directives[i])
      options.directives.push_back(TRY(directiveForms()[i]->parse(text)));
  assignIds(options.directives);
  return options;
}

/// Drops Qt's messages about the limits of the offscreen platform (no size hints, no run-time folder), which do not
/// concern the user.
void withoutOffscreenChatter(QtMsgType, const QMessageLogContext&, const QString& text) {
  if (text.startsWith(QLatin1String("This plugin does not support")) ||
      text.startsWith(QLatin1String("QStandardPaths")))
    return;
  std::fprintf(stderr, "%s\n", text.toUtf8().constData());
}

int refuse(const std::string& problem) {
  std::fprintf(stderr, "fusescope-gui: %s\n", problem.c_str());
  return 2;
}

Result<QSize> pictureSize(const std::string& text) {
  const QStringList parts = qs(text).split(QLatin1Char('x'));
  const QSize size = parts.size() == 2 ? QSize(parts[0].toInt(), parts[1].toInt()) : QSize();
  if (size.width() < 200 || size.height() < 200 || size.width() > 10000 || size.height() > 10000) {
    return Diagnostic{.message = "--size " + text + " is not a size",
                      .help = "Give WIDTHxHEIGHT, 200 to 10000 each: 1440x900."};
  }
  return size;
}

std::vector<std::string> colorModeNames() {
  std::vector<std::string> names;
  for (const ColorMode* mode : colorModes()) names.emplace_back(mode->name);
  return names;
}

int runPicture(MainWindow& window, const Arguments& arguments, const PlanOptions& options) {
  const auto size = pictureSize(arguments.size);
  if (!size.ok()) return refuse(size.error().text());
  PictureRequest request;
  request.model = qs(arguments.model);
  request.options = options;
  request.output = qs(arguments.screenshot);
  request.size = size.value();
  for (const std::string& node : arguments.expand) request.expand << qs(node);
  request.select = qs(arguments.select);
  request.dock = qs(arguments.dock);
  request.color = qs(arguments.color);
  request.inputs = arguments.inputs;
  request.build = arguments.build;
  request.errors = arguments.errors;
  request.twoViews = arguments.twoViews;
  request.original = arguments.original;
  return takePicture(window, request);
}

/// Declares the options that commands have as well, with the help texts, the ranges and the words for the values that
/// they have there.
void declareShared(CLI::App& parser, Arguments& arguments) {
  PlanSettings plan;
  InputSettings inputs;
  std::vector<Option> options = plan.planOptions();
  const std::vector<Option> more = inputs.options();
  options.insert(options.end(), more.begin(), more.end());
  const auto add = [&](const std::string& name, auto& value) {
    const Option& option = optionNamed(options, name);
    return parser.add_option("--" + name, value, option.help)
        ->type_name(option.argument)
        ->check(CLI::Validator([option](std::string& text) { return whyNotAccepted(option, text); }, ""));
  };
  add("directives", arguments.directivesFile);
  add("compiler", arguments.compiler);
  add("target", arguments.target);
  add("precision", arguments.precision);
  add("ranges", arguments.rangesFile);
  add("inputs", arguments.inputs.paths)->allow_extra_args(false);
  add("batch-axis", arguments.inputs.batchAxis);
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App parser("Fusescope's window");
  parser.add_option("MODEL", arguments.model,
                    "A model (.onnx, .pt2), plan (.json), engine (.fse) or session (.fsession)");
  declareShared(parser, arguments);
  arguments.directives.resize(directiveForms().size());
  for (std::size_t i = 0; i < directiveForms().size(); ++i) {
    const DirectiveForm& form = *directiveForms()[i];
    if (form.option.empty()) continue;
    parser.add_option(std::string(form.option), arguments.directives[i], std::string(form.help))
        ->type_name(std::string(form.argument))
        ->allow_extra_args(false);
  }
  parser.add_option("--screenshot", arguments.screenshot, "Render the window to this PNG and exit");
  parser.add_option("--size", arguments.size, "The size of the picture: WxH");
  parser.add_option("--scale", arguments.scale, "Device pixels per pixel")->check(CLI::Range(0.5, 4.0));
  parser.add_option("--theme", arguments.theme, "dark or light")->check(CLI::IsMember({"dark", "light"}));
  parser.add_option("--expand", arguments.expand, "Open this fused node; repeatable")->allow_extra_args(false);
  parser.add_option("--select", arguments.select, "Select this node");
  parser.add_option("--dock", arguments.dock, "Bring this dock to the front");
  parser.add_option("--color", arguments.color, "The fact that colours the boxes")
      ->check(CLI::IsMember(colorModeNames()));
  parser.add_flag("--build", arguments.build, "Build both engines and compare them before the picture");
  parser.add_flag("--errors", arguments.errors, "Evaluate the errors of each layer before the picture");
  parser.add_flag("--two-views", arguments.twoViews,
                  "Show two plans beside each other: those that were built, or the "
                  "requested one and the same one in float32");
  parser.add_flag("--original", arguments.original, "Show the network as it is in its file beside the plan");
  try {
    parser.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parser.exit(error) == 0 ? 0 : 2;
  }
  const auto options = planOptions(arguments);
  if (!options.ok()) return refuse(options.error().text());

  const bool picture = !arguments.screenshot.empty();
  const bool display = qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM") && !display) {
    if (!picture)
      return refuse("there is no display (DISPLAY and WAYLAND_DISPLAY are unset). --screenshot works without one.");
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qInstallMessageHandler(withoutOffscreenChatter);
  }
  if (arguments.scale != 1.0) qputenv("QT_SCALE_FACTOR", QByteArray::number(arguments.scale));
  QCoreApplication::setAttribute(Qt::AA_EnableHighDpiScaling);
  QCoreApplication::setAttribute(Qt::AA_UseHighDpiPixmaps);
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("fusescope"));
  QApplication::setOrganizationName(QStringLiteral("fusescope"));
  QApplication::setWindowIcon(themedIcon(QStringLiteral("fusescope"), Theme::dark()));

  std::string theme = arguments.theme;
  if (theme.empty() && !picture) theme = QSettings().value(QStringLiteral("theme")).toString().toStdString();
  MainWindow window(theme == "light" ? ThemeKind::Light : ThemeKind::Dark, !picture);
  if (picture) return runPicture(window, arguments, options.value());
  window.fitInto(window.screen()->availableSize());
  window.show();
  const auto cache = cacheFolder();
  if (cache.ok()) window.keepSessionsIn(qs((cache.value() / "sessions").string()));
  if (!arguments.model.empty()) {
    // Without plan options the file is opened as from the menu, so that layer information of an engine is opened with
    // its read-back plan.
    if (options.value() == PlanOptions())
      window.openFile(qs(arguments.model));
    else
      window.session().open(qs(arguments.model), options.value());
  }
  if (!arguments.inputs.empty()) {
    QObject::connect(&window.document(), &PlanDocument::modelChanged, &window,
                     [&window, done = false, inputs = arguments.inputs]() mutable {
                       if (!std::exchange(done, true)) window.setInputs(inputs);
                     });
  }
  return QApplication::exec();
}

}  // namespace
}  // namespace fusescope

int main(int argc, char** argv) {
  // Times that are measured here are then comparable with those of the worker, whose threads wait in the same way.
  fusescope::restartWithPatientThreads(argv);
  return fusescope::run(argc, argv);
}
