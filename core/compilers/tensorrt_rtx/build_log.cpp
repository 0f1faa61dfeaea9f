#include "compilers/tensorrt_rtx/build_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/json.h"

namespace fusescope {
namespace {

constexpr std::string_view kList = "Layers:";
constexpr std::string_view kRegion = "ForeignNode {";
constexpr std::string_view kVerbose = R"(["verbose", ")";

/// Most lines of a log are not used. Those that are begin with words that need no escapes in JSON.
bool isOfUse(std::string_view line) {
  if (!line.starts_with(kVerbose)) return true;
  line.remove_prefix(kVerbose.size());
  return line.starts_with(kList) || line.starts_with(kRegion);
}

class LogReader {
 public:
  Status take(std::string_view line, std::size_t number) {
    const Json message = Json::parse(line, nullptr, false);
    if (!message.is_array() || message.size() != 2 || !message[0].is_string() || !message[1].is_string())
      return Diagnostic{.message = fmt::format("line {} of the compiler's log is not a message", number)};
    const auto& severity = message[0].get_ref<const std::string&>();
    const std::string_view text = message[1].get_ref<const std::string&>();
    if (text.starts_with(kList)) m_log.layers = TRY(parseLayerList(text));
    if (text.starts_with(kRegion)) takeRegion(text);
    if (severity == "warning" && std::ranges::count(m_log.warnings, text) == 0) m_log.warnings.emplace_back(text);
    if (severity == "info") {
      takeBytes(text, "Total Activation Memory: ", m_log.activationBytes);
      takeBytes(text, "Total Weights Memory: ", m_log.weightBytes);
      takeBytes(text, "Max Scratch Memory: ", m_log.scratchBytes);
    }
    return Done{};
  }

  BuildLog log() && { return std::move(m_log); }

 private:
  /// Reads "ForeignNode {ForeignNode[n0...n64]} metadata: […]".
  void takeRegion(std::string_view text) {
    constexpr std::string_view kMetadata = " metadata: ";
    text.remove_prefix(kRegion.size() - 1);
    const std::size_t end = text.find(kMetadata);
    if (end == std::string_view::npos) return;
    const std::string_view name = text.substr(0, end);
    std::erase_if(m_log.regions, [&](const BuildLog::Region& region) { return region.name == name; });
    m_log.regions.push_back({std::string(name), namesInMetadata(text.substr(end + kMetadata.size()))});
  }

  static void takeBytes(std::string_view text, std::string_view of, std::optional<std::int64_t>& bytes) {
    if (!text.starts_with(of)) return;
    text.remove_prefix(of.size());
    if (std::int64_t number = 0; std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc())
      bytes = number;
  }

  BuildLog m_log;
};

}  // namespace

Result<BuildLog> readBuildLog(std::string_view log) {
  LogReader reader;
  std::size_t number = 0;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    ++number;
    if (!line.empty() && isOfUse(line)) TRY(reader.take(line, number));
  }
  BuildLog made = std::move(reader).log();
  if (made.layers.empty()) return Diagnostic{.message = "The compiler's log has no list of layers."};
  return made;
}

}  // namespace fusescope
