#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "app/cli/command.h"
#include "app/cli/parse_error.h"
#include "app/cli/table.h"
#include "base/name_hints.h"
#include "base/text.h"
#include "base/version.h"
#include "base/visible_text.h"
#include "cache/process_store.h"
#include "session/process_start.h"

namespace fusescope::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  fusescope inspect model.onnx
  fusescope plan model.onnx --precision f16 --pin 'op:LayerNormalization=f32:obey'
  fusescope inputs model.onnx --set 'x=1..8..32,3,224,224' -o with_inputs.onnx
  fusescope run model.onnx --inputs io.npz --expect io.npz
  fusescope build model.onnx -o model.fse
  fusescope time model.fse --per-layer
  fusescope compare before.fse after.fse
  fusescope diff model.onnx model.onnx --plan-b '--precision f16'
  fusescope report model.onnx -o report.html
  fusescope import model.pt2
  fusescope import net.py:make
  fusescope import-engine model.onnx --layers layers.json --profile profile.json
  fusescope prices f32.json f16.json --keep
  fusescope export model.onnx --pin 'node_linear_1=f32' --to polygraphy -o pins.py)";
constexpr const char* kClosing = R"(Every command takes --help; most take --json.
Exit status: 0: done; 1: the answer is no, or a check failed; 2: bad use or bad input.)";

/// Writes a positional argument as the word for its value, "MODEL|E.fse". CLI11 itself writes its name and this word.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool isPositional) const override {
    const std::string word = option->get_type_name();
    return isPositional && !word.empty() ? word : CLI::Formatter::make_option_name(option, isPositional);
  }
  /// CLI11 itself pads to a number of bytes, so that a line whose left column has an ellipsis would begin too far left.
  std::string make_option(const CLI::Option* option, bool isPositional) const override {
    const std::string left = make_option_name(option, isPositional) + make_option_opts(option);
    std::ostringstream out;
    const std::size_t width = get_column_width(), used = 2 + columnsOf(left);
    out << "  " << left;
    if (const std::string text = make_option_desc(option); !text.empty())
      out << (used < width ? std::string(width - used, ' ') : "\n" + std::string(width, ' ')) << text;
    out << "\n";
    return out.str();
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option), word = " " + option->get_type_name();
    return option->get_positional() && text.starts_with(word) ? text.substr(word.size()) : text;
  }
};

int fail(const Diagnostic& error) {
  clearProgressLine();
  std::cerr << "fusescope: " << error.text() << "\n";
  return kBadUse;
}

/// If the unexpected argument `word` follows the value of an option that may be given several times, as happens when
/// the shell expands a pattern, returns the right way to write this. Otherwise returns an empty text.
std::string whatIsGivenAgain(const CLI::App& verb, const std::string& word) {
  const std::string ending = std::filesystem::path(word).extension().string();
  for (const CLI::Option* option : verb.get_options()) {
    const bool isRepeatable = option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    if (!isRepeatable || option->count() == 0 || option->get_positional()) continue;
    const std::string last = option->results().back();
    if (ending.empty() || std::filesystem::path(last).extension() != ending) continue;
    const std::string name = option->get_name();
    return fmt::format("{} takes one value, and is repeated for each of several: {} {} {} {}.", name, name, last, name,
                       word);
  }
  return {};
}

/// Describes the argument that no command accepts, and what the user may have meant. The parser's own message names
/// neither.
Diagnostic notExpected(const CLI::App& app) {
  const std::vector<const CLI::App*> chosen = app.get_subcommands([](const CLI::App*) { return true; });
  const std::vector<std::string> rest = app.remaining(true);
  const auto verb = std::ranges::find_if(chosen, [](const CLI::App* verb) { return verb->parsed() > 0; });
  const bool isVerb = verb == chosen.end();
  const auto option = std::ranges::find_if(rest, [](const std::string& word) { return word.starts_with("-"); });
  const std::string wrong = option != rest.end() ? *option : rest.empty() ? "" : rest.front();
  std::vector<std::string> names;
  if (isVerb) {
    for (const CLI::App* known : chosen) names.push_back(known->get_name());
    const auto word = std::ranges::find_if(rest, [](const std::string& each) { return !each.starts_with("-"); });
    const std::string& verbMeant = word != rest.end() ? *word : wrong;
    return {.message = fmt::format("there is no command '{}'", verbMeant),
            .help = nearestInWords(verbMeant, names, fmt::format("Commands are {}.", joined(names)))};
  }
  const std::string help = fmt::format("fusescope {} --help lists its options and arguments.", (*verb)->get_name());
  if (option == rest.end()) {
    const std::string again = whatIsGivenAgain(**verb, wrong);
    return {.message = fmt::format("{} does not take '{}' here", (*verb)->get_name(), wrong),
            .help = again.empty() ? help : again};
  }
  for (const CLI::Option* known : (*verb)->get_options())
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  const std::string name = wrong.substr(0, wrong.find('='));
  if (std::ranges::find(names, name) != names.end())
    return {.message = fmt::format("{} must follow the command, not precede it", name), .help = help};
  return {.message = fmt::format("{} has no option '{}'", (*verb)->get_name(), name),
          .help = nearestInWords(name, names, help)};
}

int runChosen(const std::vector<Command>& commands) {
  for (const auto& command : commands) {
    if (!command.app->parsed()) continue;
    const auto status = command.run();
    if (!std::cout.flush())
      return fail({.message = "standard output cannot be written, so the output is not complete"});
    return status.ok() ? status.value() : fail(status.error());
  }
  return kBadUse;
}

/// While an object of this class lives, control characters that are printed (names may contain any) are replaced by
/// readable text. The program's own control characters, which it writes only to a terminal, are kept.
class VisibleStream {
 public:
  VisibleStream(std::ostream& stream, int file)
      : m_stream(stream),
        m_visible(*stream.rdbuf(), isatty(file) == 1
                                       ? std::vector<std::string_view>{"\033[0m", "\033[1m", "\033[2m", "\r\033[K"}
                                       : std::vector<std::string_view>{}),
        m_before(stream.rdbuf(&m_visible)) {}
  ~VisibleStream() { m_stream.rdbuf(m_before); }
  VisibleStream(const VisibleStream&) = delete;
  VisibleStream& operator=(const VisibleStream&) = delete;

 private:
  std::ostream& m_stream;
  VisibleBuffer m_visible;
  std::streambuf* m_before;
};

/// Declares the command that the first argument names, or all commands if it names none. Declaring all of them takes
/// some milliseconds.
std::vector<Command> declaredCommands(CLI::App& app, std::string_view first) {
  const bool isOne = std::ranges::find(operations(), first, &Operation::name) != operations().end();
  std::vector<Command> commands;
#define FUSESCOPE_OPERATION(operation) \
  if (!isOne || operation##Operation().name == first) commands.push_back(operation##Command(app));
#include "session/operations/operations.inc"
#undef FUSESCOPE_OPERATION
  return commands;
}

int mainGuarded(int argc, char** argv) {
  const VisibleStream out(std::cout, STDOUT_FILENO), err(std::cerr, STDERR_FILENO);
  useStore(CacheMode::Write);
  CLI::App app("Fusescope: see, steer and measure what a compiler does to a neural network.", "fusescope");
  app.set_version_flag("--version", fmt::format("fusescope {}", kFusescopeVersion));
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(fmt::format("{}\n\n{}\n{}", kExamples, kPatternHelp, kClosing));
  app.require_subcommand(1);
  const std::vector<Command> commands = declaredCommands(app, argc > 1 ? argv[1] : "");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return fail(notExpected(app));
  } catch (const CLI::ParseError& error) {
    if (argc > 1 && app.get_subcommands().empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
      return fail(notExpected(app));
    if (error.get_exit_code() != 0) return fail(inWords(error, app));
    app.exit(error);  // --help and --version are exceptions of this type, too
    return std::cout.flush() ? kDone : kBadUse;
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
