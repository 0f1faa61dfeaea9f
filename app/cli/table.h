#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"

namespace fusescope::cli {

/// An aligned table of text with headings, which is written to standard output. Numbers are aligned to the right.
class Table {
 public:
  struct Column {
    std::string heading;
    bool right = false;
  };
  explicit Table(std::vector<Column> columns) : m_columns(std::move(columns)) {}
  void add(std::vector<std::string> cells) { m_rows.push_back(std::move(cells)); }
  bool empty() const { return m_rows.empty(); }
  void print() const;

 private:
  std::vector<Column> m_columns;
  std::vector<std::vector<std::string>> m_rows;
};

/// Returns the number of characters as a terminal counts them: continuation bytes of UTF-8 take no place.
std::size_t columnsOf(std::string_view text);

void printTitle(std::string_view title);  ///< prints it in bold on a terminal

// These functions write quantities with their units, and a dash if there is no value.
std::string bytesText(std::optional<std::int64_t> bytes);       ///< "3.40 MiB"
std::string flopsText(std::optional<std::int64_t> flops);       ///< "1.2 G"
std::string msText(std::optional<double> ms);                   ///< "0.123 ms", "0.700 µs"
std::string msApartText(std::optional<double> ms);              ///< a difference: "+0.700 µs", "−1.25 ms"
std::string msText(std::optional<double> ms, PriceSource how);  ///< "~0.123 ms" where it is fitted
std::string stepsText(const std::vector<double>& stepMs);       ///< "512 steps: mean …, first …, last …"
/// Returns the predicted time of a fused node. For one with bodies the text is a range over its branches ("0.1 ms to
/// ~0.2 ms"), or the time of an iteration ("0.1 ms an iteration").
std::string predictedText(const FusedNode& fused);
std::string rangeText(double leastMs, double mostMs, PriceSource how);  ///< "0.1 ms" where they are equal
/// Returns "2.7 MFLOP … 226.3 GFLOP": the values at the minimum and at the maximum extents, or one value if both are
/// equal.
std::string rangeText(const std::string& least, const std::string& most);
/// Returns extents that are given as JSON (numbers, symbols or null) as "[batch, 3, ?]"; `absent` replaces null.
std::string extentsText(const Json& extents, std::string_view absent, std::string_view separator = ", ");
/// Returns a text that is given as JSON; `otherwise` replaces null and an empty text.
std::string textOr(const Json& json, std::string_view otherwise);
/// Returns `text` with at most `width` characters; "…" replaces the part that is omitted in the middle.
std::string shortened(std::string_view text, std::size_t width = 56);

}  // namespace fusescope::cli
