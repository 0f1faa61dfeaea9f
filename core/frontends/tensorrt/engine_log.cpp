#include "frontends/tensorrt/engine_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "frontends/tensorrt/engine_layers.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostWarnings = 200;

/// Returns the text between `before` and the first `behind` after it, or nothing if one is missing.
std::optional<std::string_view> between(std::string_view text, std::string_view before, std::string_view behind) {
  const std::size_t start = text.find(before);
  if (start == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(start + before.size());
  const std::size_t end = behind.empty() ? rest.size() : rest.find(behind);
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

std::optional<double> msIn(std::string_view word) {
  double ms = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), ms);
  return read.ec == std::errc() && std::isfinite(ms) && ms >= 0 ? std::optional(ms) : std::nullopt;
}

/// Reads "-1, 1, 28, 28", up to something that is not a number.
std::vector<std::int64_t> integersIn(std::string_view text) {
  std::vector<std::int64_t> integers;
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  for (std::int64_t integer = 0; !text.empty();) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), integer);
    if (read.ec != std::errc()) break;
    integers.push_back(integer);
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  }
  return integers;
}

/// Reads "[x -> (-1, 1, 28, 28)[FLOAT]], [w -> (32)[FLOAT]], ". An absent optional input has no type there.
std::vector<EngineLog::Tensor> tensorsIn(std::string_view text) {
  constexpr std::string_view kArrow = " -> (", kShape = ")[";
  std::vector<EngineLog::Tensor> tensors;
  while (!text.empty()) {
    const std::size_t start = text.find('['), arrow = text.find(kArrow), type = text.find(kShape, arrow);
    const std::size_t end = text.find("]]", type);
    if (start == std::string_view::npos || arrow < start || end == std::string_view::npos) break;
    EngineLog::Tensor& tensor = tensors.emplace_back();
    tensor.name = text.substr(start + 1, arrow - start - 1);
    tensor.type = text.substr(type + kShape.size(), end - type - kShape.size());
    tensor.dims = integersIn(text.substr(arrow + kArrow.size(), type - arrow - kArrow.size()));
    text.remove_prefix(end + 2);
  }
  return tensors;
}

class EngineLogReader {
 public:
  void take(std::string_view line) {
    constexpr std::string_view kRunning = "&&&& RUNNING TensorRT.trtexec [TensorRT ";
    if (line.starts_with(kRunning)) {
      m_log.version = versionInWords(line.substr(kRunning.size()));
      if (const auto command = between(line, " # ", "")) m_log.command = *command;
      m_isUnderstood = true;
      return;
    }
    const auto [level, words] = partsOf(line);
    if (level == 'W' && m_log.warnings.size() < kMostWarnings && std::ranges::count(m_log.warnings, words) == 0)
      m_log.warnings.emplace_back(words);
    const bool isKnown = takeFact(words) || takeParsing(words) || takeTactic(words) || takeType(words);
    m_isUnderstood = m_isUnderstood || isKnown;
    if (!isKnown) takeNetwork(words);
  }

  Result<EngineLog> log() && {
    if (!m_isUnderstood)
      return Diagnostic{.message = "this is not a log of a build of TensorRT: no line of it could be read",
                        .help = "It is written by: trtexec --onnx=… --verbose > build.log."};
    return std::move(m_log);
  }

 private:
  struct Parts {
    char level = 0;
    std::string_view words;
  };
  /// Splits "[date] [V] [TRT] words", "[V] [TRT] words" and "[date] [TRT] [V] words"; the whole text of another line
  /// are its words.
  static Parts partsOf(std::string_view line) {
    constexpr std::string_view kLevels = "VIWEF";
    Parts parts{.words = line};
    while (parts.words.starts_with('[')) {
      const std::size_t end = parts.words.find(']');
      if (end == std::string_view::npos) break;
      const std::string_view mark = parts.words.substr(1, end - 1);
      const bool isLevel = mark.size() == 1 && kLevels.find(mark[0]) != std::string_view::npos;
      const bool isTime = mark.find('/') != std::string_view::npos && mark.find(':') != std::string_view::npos;
      if (!isLevel && !isTime && mark != "TRT") break;
      if (isLevel) parts.level = mark[0];
      parts.words.remove_prefix(end + 1);
      if (parts.words.starts_with(' ')) parts.words.remove_prefix(1);
    }
    return parts;
  }

  bool takeFact(std::string_view words) {
    const auto takeText = [&](std::string_view key, std::string& into) {
      if (!words.starts_with(key)) return false;
      into = words.substr(key.size());
      return true;
    };
    const auto takeBytes = [&](std::string_view key, std::optional<std::int64_t>& into) {
      if (!words.starts_with(key)) return false;
      const std::string_view number = words.substr(key.size());
      if (std::int64_t bytes = 0;
          std::from_chars(number.data(), number.data() + number.size(), bytes).ec == std::errc())
        into = bytes;
      return true;
    };
    std::string version;
    if (takeText("TensorRT version: ", version)) {
      if (m_log.version.empty()) m_log.version = version;
      return true;
    }
    return takeText("Selected Device: ", m_log.device) || takeText("Precision: ", m_log.precision) ||
           takeText("Driver version: ", m_log.driver) || takeText("Driver Version: ", m_log.driver) ||
           takeBytes("Total Activation Memory: ", m_log.activationBytes) ||
           takeBytes("Total Weights Memory: ", m_log.weightBytes) ||
           takeBytes("Max Scratch Memory: ", m_log.scratchBytes) ||
           takeBytes("Total Scratch Memory: ", m_log.scratchBytes) || takeRegion(words);
  }

  bool takeRegion(std::string_view words) {
    constexpr std::string_view kRegion = "ForeignNode {", kMetadata = " metadata: ";
    const std::size_t end = words.find(kMetadata);
    if (!words.starts_with(kRegion) || end == std::string_view::npos) return false;
    const std::string_view name = words.substr(kRegion.size() - 1, end - kRegion.size() + 1);
    m_log.regions.insert_or_assign(std::string(name), namesInMetadata(words.substr(end + kMetadata.size())));
    return true;
  }

  bool takeParsing(std::string_view words) {
    constexpr std::string_view kLayer = "Registering layer: ", kFor = " for ONNX node: ";
    if (words.starts_with(kLayer)) {
      const std::size_t at = words.find(kFor);
      if (at != std::string_view::npos)
        m_log.nodeOfLayer.insert_or_assign(std::string(words.substr(kLayer.size(), at - kLayer.size())),
                                           std::string(words.substr(at + kFor.size())));
      return true;
    }
    return takeTensors(words, "] inputs: ", true) || takeTensors(words, "] outputs: ", false);
  }

  /// Reads what the parser logs about the network besides its nodes, and about the current node.
  void takeNetwork(std::string_view words) {
    constexpr std::string_view kInput = "Adding network input: ", kOutput = "Marking ",
                               kKernel = "Using kernel: ", kOpset = "Opset version:";
    if (words.starts_with(kOpset))
      if (const auto opset = integersIn(words.substr(kOpset.size())); !opset.empty()) m_log.opset = opset.front();
    if (words.starts_with(kInput)) {
      const auto name = between(words, kInput, " with dtype: "), type = between(words, " with dtype: ", ",");
      const auto dims = between(words, ", dimensions: (", ")");
      if (name && type && dims) m_log.inputs.push_back({std::string(*name), std::string(*type), integersIn(*dims)});
    }
    if (const std::size_t at = words.find(" as output: "); words.starts_with(kOutput) && at != std::string_view::npos)
      m_log.outputs.emplace_back(words.substr(at + 12));
    if (m_log.nodes.empty() || !m_log.nodes.back().outputs.empty()) return;
    EngineLog::Node& node = m_log.nodes.back();
    if (words.starts_with(kKernel)) node.window = windowIn(words);
    if (const auto factors = between(words, "Using opA: ", ""))
      node.isTransposed = {factors->starts_with('1'), factors->ends_with("opB: 1")};
  }

  /// Reads "Using kernel: (5, 5), strides: (1, 1), prepadding: (2, 2), postpadding: (2, 2), dilations: (1, 1), …".
  static std::optional<EngineLog::Window> windowIn(std::string_view words) {
    EngineLog::Window window;
    const auto take = [&](std::string_view key, std::vector<std::int64_t>& into) {
      if (const auto numbers = between(words, key, ")")) into = integersIn(*numbers);
    };
    take("kernel: (", window.kernel);
    take("strides: (", window.strides);
    take("prepadding: (", window.padsBefore);
    take("postpadding: (", window.padsBehind);
    take("dilations: (", window.dilations);
    const auto groups = between(words, "nbGroups: ", "");
    const std::size_t axes = window.kernel.size();
    const bool isWhole = axes > 0 && window.strides.size() == axes && window.padsBefore.size() == axes &&
                         window.padsBehind.size() == axes && window.dilations.size() == axes && groups;
    if (!isWhole) return std::nullopt;
    const auto count = integersIn(*groups);
    window.groups = count.empty() ? 1 : count.front();
    return window;
  }

  /// Reads "NAME [OP] inputs: [x -> (1)[FLOAT]], ".
  bool takeTensors(std::string_view words, std::string_view mark, bool areInputs) {
    const std::size_t end = words.find(mark);
    if (end == std::string_view::npos) return false;
    const std::size_t start = words.rfind(" [", end);
    if (start == std::string_view::npos) return false;
    const std::string_view name = words.substr(0, start), op = words.substr(start + 2, end - start - 2);
    std::vector<EngineLog::Tensor> tensors = tensorsIn(words.substr(end + mark.size()));
    if (areInputs) {
      m_log.nodes.push_back({std::string(name), std::string(op), std::move(tensors), {}});
    } else if (!m_log.nodes.empty() && m_log.nodes.back().name == name) {
      m_log.nodes.back().outputs = std::move(tensors);
    }
    return true;
  }

  bool takeTactic(std::string_view words) {
    constexpr std::string_view kRunner = "Timing Runner: ", kChosen = "Chose Runner Type: ";
    if (const std::size_t at = words.find(kRunner); at != std::string_view::npos) {
      std::string_view layer = words.substr(at + kRunner.size());
      if (const std::size_t runner = layer.rfind(" ("); runner != std::string_view::npos)
        layer = layer.substr(0, runner);
      m_current = tacticsFor(layer);
      return true;
    }
    if (m_current == kNone) return false;
    EngineLog::Tactics& tactics = m_log.tactics[m_current];
    if (const std::size_t at = words.find(kChosen); at != std::string_view::npos) {
      const std::string_view runner = words.substr(at + kChosen.size());
      tactics.runner = runner.substr(0, runner.find(' '));
      return true;
    }
    if (words.find("Fastest Tactic: ") != std::string_view::npos) return true;
    const auto number = between(words, "Tactic: ", " ");
    if (!number) return false;
    const std::size_t time = words.rfind(" Time: ");
    const auto ms = time == std::string_view::npos ? std::nullopt : msIn(words.substr(time + 7));
    if (!ms) {
      tactics.skipped += words.find(" skipped") != std::string_view::npos ? 1 : 0;
      return true;
    }
    ++tactics.timed;
    if (tactics.fastestMs && *tactics.fastestMs <= *ms) return true;
    tactics.fastestMs = ms;
    tactics.fastest = between(words, "Tactic Name: ", " Tactic: ").value_or(*number);
    return true;
  }

  std::size_t tacticsFor(std::string_view layer) {
    const auto [known, isNew] = m_tacticsOf.try_emplace(std::string(layer), m_log.tactics.size());
    if (isNew) m_log.tactics.push_back({.layer = std::string(layer)});
    return known->second;
  }

  bool takeType(std::string_view words) {
    constexpr std::string_view kIgnored = "No implementation of layer ";
    if (const auto layer = between(words, kIgnored, " obeys the requested constraints")) {
      if (std::ranges::count(m_log.typesIgnored, *layer) == 0) m_log.typesIgnored.emplace_back(*layer);
      return true;
    }
    constexpr std::string_view kSet = "Set layer ", kPrecision = " to precision ";
    const auto layer = between(words, kSet, kPrecision);
    if (!words.starts_with(kSet) || !layer) return false;
    m_log.typesSet.push_back({std::string(*layer), std::string(*between(words, kPrecision, ""))});
    return true;
  }

  static constexpr std::size_t kNone = SIZE_MAX;
  EngineLog m_log;
  std::map<std::string, std::size_t> m_tacticsOf;
  std::size_t m_current = kNone;
  bool m_isUnderstood = false;
};

}  // namespace

const EngineLog::Tactics* EngineLog::tacticsOf(std::string_view layer) const {
  const auto found = std::ranges::find(tactics, layer, &Tactics::layer);
  return found == tactics.end() ? nullptr : &*found;
}

Result<EngineLog> parseEngineLog(std::string_view text) {
  const std::string valid = validUtf8(text);
  EngineLogReader reader;
  for (std::string_view rest = valid; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) reader.take(line);
  }
  EngineLog log = TRY(std::move(reader).log());
  if (auto listed = parseEngineLayers(text); listed.ok()) log.layers = std::move(listed).value().layers;
  return log;
}

std::string versionInWords(std::string_view number) {
  if (number.starts_with('v')) number.remove_prefix(1);
  std::int64_t all = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), all);
  if (read.ec != std::errc() || all < 1000) return {};
  const std::int64_t unit = all >= 100'000 ? 10'000 : 1'000;  // the factor of the major version, from 10 on
  return fmt::format("{}.{}.{}", all / unit, all % unit / 100, all % 100);
}

}  // namespace fusescope
