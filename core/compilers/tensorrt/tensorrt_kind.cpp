// The kind of TensorRT for servers, versions 10.1 to 11, by its Python interface. Its layers are reported by its
// inspector if the engine can be loaded, otherwise by its log. Both are read like files of engines that were built
// elsewhere.
#include <fmt/format.h>

#include <algorithm>

#include "base/json_fields.h"
#include "compilers/tensorrt/family_answers.h"
#include "compilers/tensorrt/read_built_engine.h"
#include "compilers/tensorrt/server_kind.h"

namespace fusescope {
namespace {

/// A log that the probe wrote, in the form that programs of TensorRT print.
struct PrintedLog {
  std::string text;    ///< "[V] [TRT] words", one or more lines for each message
  std::string layers;  ///< the message with the layers of the engine; empty: there is none
};

char levelOf(std::string_view severity) {
  return severity == "internal_error" ? 'F'
         : severity == "error"        ? 'E'
         : severity == "warning"      ? 'W'
         : severity == "info"         ? 'I'
                                      : 'V';
}

/// Reads one line of JSON, [severity, text], for each message. Errors: a line has another form; the error gives its
/// number.
Result<PrintedLog> printedLog(std::string_view messages) {
  PrintedLog printed;
  for (std::size_t number = 1; !messages.empty(); ++number) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    messages.remove_prefix(std::min(end + 1, messages.size()));
    if (line.empty()) continue;
    const Json message = Json::parse(line, nullptr, false);
    if (!message.is_array() || message.size() != 2 || !message[0].is_string() || !message[1].is_string())
      return Diagnostic{.message = fmt::format("line {} of the compiler's log is not a message", number)};
    const auto& words = message[1].get_ref<const std::string&>();
    printed.text += fmt::format("[{}] [TRT] {}\n", levelOf(message[0].get_ref<const std::string&>()), words);
    if (words.starts_with("Layers:")) printed.layers = words;
  }
  return printed;
}

class TensorrtKind final : public ServerKind {
 public:
  std::string_view name() const override { return "tensorrt"; }
  std::string_view title() const override { return "TensorRT"; }
  std::string untried() const override {
    return "Nobody has run TensorRT for servers through Fusescope yet: this part was written from its documentation, "
           "and tried with TensorRT for RTX, which has the same interface.";
  }

  Result<CompilerSupport> support(const CompilerInput& network, const ProbeAnswer& answer) const override {
    return parserSupport(network, answer, title());
  }

  Result<ReadBack> readBack(const CompilerInput& network, const ProbeAnswer& compiled) const override {
    const PrintedLog log = TRY(printedLog(TRY(fileText(compiled, kLog, title()))));
    EngineFiles files;
    if (compiled.files.contains(kLayers)) {
      files.layers = TRY(parsed(compiled, kLayers, parseEngineLayers));
    } else if (!log.layers.empty()) {
      files.layers.layers = TRY(parseLayerList(log.layers));
    } else {
      files.layers = TRY(parseEngineLayers(log.text));
    }
    if (auto read = parseEngineLog(log.text); read.ok()) files.log = std::move(read).value();
    takeTypesSet(compiled.json, files);
    ReadBack readBack = readBuiltEngine(network, files);
    keepAnswers(compiled, {"device"}, readBack);
    warnOfNodes(network, compiled, "no_layer_of",
                "the parser made no layer with floats of the node, so no type could be set", readBack);
    for (const Json& warning : memberOf(compiled.json, "warnings"))
      readBack.decisions.push_back(
          decide("build.compiler_warns", {}, network.plan->options.compiler,
                 {{"compiler", "TensorRT"}, {"message", DecisionArgument::fromJson(warning)}}));
    return readBack;
  }

  std::string_view kernelTimesAre(const CompilerOptions& /*options*/) const override { return "medians over all runs"; }
  Result<std::map<std::string, double>> kernelTimes(const CompilerInput& network,
                                                    const ProbeAnswer& profile) const override {
    return kernelMedians(network, profile, title());
  }

 private:
  static constexpr const char* kLog = "log.jsonl";
  static constexpr const char* kLayers = "layers.json";

  /// Types are set by calls that the log does not contain. Each entry is [layer, node, type, "precision" | "output"].
  static void takeTypesSet(const Json& compiled, EngineFiles& files) {
    if (!files.log) return;
    files.log->constraints = textMember(compiled, "constraints");
    for (const Json& set : memberOf(compiled, "types_set")) {
      const bool isComplete = set.is_array() && set.size() == 4 &&
                              std::ranges::all_of(set, [](const Json& each) { return each.is_string(); });
      if (!isComplete) continue;
      files.log->nodeOfLayer.insert_or_assign(set[0].get<std::string>(), set[1].get<std::string>());
      if (set[3] == "precision") files.log->typesSet.push_back({set[0].get<std::string>(), set[2].get<std::string>()});
    }
  }
};

}  // namespace

const ProbedKind& tensorrtKind() {
  static const TensorrtKind kKind;
  return kKind;
}

}  // namespace fusescope
