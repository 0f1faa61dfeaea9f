#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "calibration/ranges.h"

namespace fusescope {

namespace {

constexpr double kMostCode = 127;

Diagnostic badLine(std::size_t line, std::string message) {
  return {.message = fmt::format("line {}: {}", line, message),
          .help =
              "Each line of a calibration cache of TensorRT is NAME: SCALE, where SCALE is a float as eight "
              "hexadecimal digits."};
}

Result<float> scaleOf(std::string_view text, std::size_t line) {
  std::uint32_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.size() != 8)
    return badLine(line, fmt::format("'{}' is not a float as eight hexadecimal digits", text));
  const auto scale = std::bit_cast<float>(bits);
  if (!std::isfinite(scale) || scale < 0)
    return badLine(line, fmt::format("the scale {} is not a finite number that is 0 or more", scale));
  return scale;
}

}  // namespace

Result<Ranges> rangesFromTensorRtCache(std::string_view text) {
  Ranges ranges{.from = "tensorrt"};
  ranges.settings.choice.symmetric = true;
  const std::vector<std::string> lines = split(text, '\n');
  if (lines.empty() || !lines.front().starts_with("TRT-"))
    return badLine(1, "this is not a calibration cache of TensorRT");
  if (lines.front().find("Entropy") != std::string::npos) ranges.settings.choice.method = RangeMethod::Entropy;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::size_t colon = line.rfind(": ");  // names may contain a colon
    if (colon == std::string_view::npos || colon == 0) return badLine(i + 1, "the line is not NAME: SCALE");
    const double largest = kMostCode * TRY(scaleOf(line.substr(colon + 2), i + 1));
    ranges.edges.insert_or_assign(std::string(line.substr(0, colon)), EdgeRange{.range = {-largest, largest}});
  }
  if (ranges.edges.empty()) return badLine(1, "no tensor has a scale");
  return ranges;
}

Result<std::string> tensorRtCacheText(const Ranges& ranges, int version) {
  const bool entropy = ranges.settings.choice.method == RangeMethod::Entropy;
  std::string text = fmt::format("TRT-{}-{}\n", version, entropy ? "EntropyCalibration2" : "MinMaxCalibration");
  for (const auto& [value, edge] : ranges.edges) {
    if (value.empty() || value.find('\n') != std::string::npos)
      return Diagnostic{.message = "the name cannot be written in a line of a calibration cache of TensorRT",
                        .where = {.value = value},
                        .help = "Give the value another name in the model."};
    const double largest =
        std::max(std::abs(static_cast<double>(edge.range.low)), std::abs(static_cast<double>(edge.range.high)));
    text += fmt::format("{}: {:08x}\n", value, std::bit_cast<std::uint32_t>(static_cast<float>(largest / kMostCode)));
  }
  return text;
}

}  // namespace fusescope
