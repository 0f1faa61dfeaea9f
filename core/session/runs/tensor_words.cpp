#include "session/runs/tensor_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantities.h"
#include "base/text.h"

namespace fusescope {
namespace {

/// Longer texts are cut after this many characters.
constexpr std::size_t kMostText = 24;

class StatisticsTable {
 public:
  explicit StatisticsTable(const std::vector<const ShownTensor*>& shown) : m_shown(shown) {}

  template <class TextOf>
  StatisticsRow& row(std::string title, const TextOf& textOf) {
    StatisticsRow row{std::move(title), {}};
    for (const ShownTensor* of : m_shown) row.cells.push_back(textOf(*of));
    return m_rows.emplace_back(std::move(row));
  }
  /// `countOf` returns nullopt if the count is not known.
  template <class CountOf>
  void losses(std::string title, const CountOf& countOf) {
    bool isLoss = false;
    row(std::move(title), [&](const ShownTensor& of) {
      const std::optional<std::int64_t> count = countOf(of.statistics);
      isLoss = isLoss || count.value_or(0) > 0;
      return count ? inThousands(*count) : std::string("-");
    }).isLoss = isLoss;
  }
  std::vector<StatisticsRow> take() { return std::move(m_rows); }

 private:
  const std::vector<const ShownTensor*>& m_shown;
  std::vector<StatisticsRow> m_rows;
};

std::string roundedText(double number, const TensorStatistics& of) {
  return of.hasNumbers() ? fmt::format("{:.6g}", number) : "-";
}

/// Returns "1st", "2nd", "9th" or "11th".
std::string ordinal(std::int64_t number) {
  const std::int64_t ten = number % 10;
  const bool isTeen = number % 100 / 10 == 1;
  return fmt::format("{}{}", number, isTeen ? "th" : ten == 1 ? "st" : ten == 2 ? "nd" : ten == 3 ? "rd" : "th");
}

std::string cut(const std::string& text) {
  return text.size() <= kMostText ? text : text.substr(0, kMostText) + "…";
}

}  // namespace

std::vector<StatisticsRow> statisticsRows(const std::vector<const ShownTensor*>& shown) {
  StatisticsTable table(shown);
  const auto element = [](const ShownTensor& of, std::int64_t at) {
    return at < 0 ? std::string("-") : elementText(of.tensor, at);
  };
  table.row("elements", [](const ShownTensor& of) { return inThousands(of.statistics.count); });
  table.row("least", [&](const ShownTensor& of) { return element(of, of.statistics.leastAt); });
  table.row("most", [&](const ShownTensor& of) { return element(of, of.statistics.mostAt); });
  table.row("mean", [](const ShownTensor& of) { return roundedText(of.statistics.mean, of.statistics); });
  table.row("rms", [](const ShownTensor& of) { return roundedText(of.statistics.rms, of.statistics); });
  table.row("zeros", [](const ShownTensor& of) { return inThousands(of.statistics.zeros); });
  table.losses("NaN", [](const TensorStatistics& of) { return std::optional(of.nan); });
  table.losses("infinite", [](const TensorStatistics& of) { return std::optional(of.infinite); });
  for (const DataType type : {DataType::F32, DataType::BF16, DataType::F16}) {
    const auto has = [&](const ShownTensor* of) {
      return std::ranges::find(of->statistics.narrow, type, &NarrowCounts::type) != of->statistics.narrow.end();
    };
    if (std::ranges::none_of(shown, has)) continue;
    const auto count = [&](std::int64_t NarrowCounts::*which) {
      return [type, which](const TensorStatistics& of) -> std::optional<std::int64_t> {
        const auto counts = std::ranges::find(of.narrow, type, &NarrowCounts::type);
        return counts == of.narrow.end() ? std::nullopt : std::optional((*counts).*which);
      };
    };
    table.losses(fmt::format("infinite in {}", name(type)), count(&NarrowCounts::overflow));
    table.losses(fmt::format("become 0 in {}", name(type)), count(&NarrowCounts::underflow));
    table.losses(fmt::format("denormal in {}", name(type)), count(&NarrowCounts::denormal));
  }
  return table.take();
}

std::string distinctWords(const TensorStatistics& statistics) {
  if (statistics.distinct.empty()) return {};
  std::vector<std::string> texts;
  for (const auto& [value, count] : statistics.distinct)
    texts.push_back(fmt::format("{} ({})", cut(value), inThousands(count)));
  return fmt::format("{} different: {}", statistics.distinct.size(), joined(texts));
}

std::string lookedWords(const TensorStatistics& statistics) {
  if (statistics.stride == 1) return {};
  return fmt::format("every {} element was read: {} of {}", ordinal(statistics.stride), inThousands(statistics.looked),
                     inThousands(statistics.count));
}

std::vector<std::string> differenceWords(const TensorDifference& difference) {
  if (!difference.unavailable.empty()) return {"The two are not compared: " + difference.unavailable + "."};
  std::vector<std::string> words;
  const Dims& dims = difference.tensor.dims();
  if (difference.at < 0) words.push_back("No element is finite in both.");
  if (difference.at >= 0 && difference.maxAbs == 0) words.push_back("Both are equal where they are finite.");
  if (difference.maxAbs > 0)
    words.push_back(fmt::format("max|Δ| is {:.3g}, {:.3g} of rms, at {}.", difference.maxAbs, difference.maxOverRms,
                                indexText(dims, difference.at)));
  if (difference.notFinite > 0)
    words.push_back(
        fmt::format("{} infinite or NaN where float32 has a number, the first at {}.",
                    difference.notFinite == 1 ? "1 element is" : inThousands(difference.notFinite) + " elements are",
                    indexText(dims, difference.firstNotFinite)));
  return words;
}

}  // namespace fusescope
