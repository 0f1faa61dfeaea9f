#include <fmt/format.h>

#include <exception>
#include <iostream>

#include "app/cli/command.h"
#include "session/process_start.h"

namespace fusescope::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  fusescope inspect model.onnx
  fusescope plan model.onnx --precision f16 --pin 'op:LayerNormalization=f32:obey'
  fusescope run model.onnx --inputs io.npz --expect io.npz
  fusescope build model.onnx -o model.fse
  fusescope time model.fse --per-layer
  fusescope compare before.fse after.fse
  fusescope diff model.onnx model.onnx --plan-b '--precision f16'
  fusescope export model.onnx --pin 'node_linear_1=f32' --to polygraphy -o pins.py

A PATTERN is a node name, a glob, /regex/, op:Type, module:PATH, value:NAME or, in a body, NODE/PATTERN.
Every verb takes --help; most take --json.
Exit status: 0 done; 1 what was asked about does not hold; 2 bad use or bad input.)";

int fail(const Diagnostic& error) {
  clearProgressLine();
  std::cerr << "fusescope: " << error.text() << "\n";
  return kBadUse;
}

int runChosen(const std::vector<Command>& commands) {
  for (const auto& command : commands) {
    if (!command.app->parsed()) continue;
    const auto status = command.run();
    if (!std::cout.flush())
      return fail({.message = "standard output cannot be written: what was printed is not whole"});
    return status.ok() ? status.value() : fail(status.error());
  }
  return kBadUse;
}

int mainGuarded(int argc, char** argv) {
  CLI::App app("Fusescope: see, steer and measure what a compiler does to a neural network.", "fusescope");
  app.set_version_flag("--version", "fusescope " FUSESCOPE_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);
  const std::vector<Command> commands{inspectCommand(app), planCommand(app),   explainCommand(app),   buildCommand(app),
                                      runCommand(app),     timeCommand(app),   compareCommand(app),   diffCommand(app),
                                      errorsCommand(app),  verifyCommand(app), calibrateCommand(app), tuneCommand(app),
                                      exportCommand(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool done = app.exit(error) == 0;  // help and version are errors of this kind, too
    return done && std::cout.flush() ? kDone : kBadUse;
  }
  return runChosen(commands);
}

}  // namespace
}  // namespace fusescope::cli

int main(int argc, char** argv) {
  fusescope::restartWithPatientThreads(argv);
  try {
    return fusescope::cli::mainGuarded(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "fusescope: unexpected: " << error.what() << "\n";
    return fusescope::cli::kBadUse;
  }
}
