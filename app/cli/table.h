#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"

namespace fusescope::cli {

/// Rows of text under headings, aligned; numbers to the right. Written to standard output.
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

void printTitle(std::string_view title);  ///< bold on a terminal

// Quantities with units; a dash where there is none.
std::string bytesText(std::optional<std::int64_t> bytes);       ///< "3.40 MiB"
std::string flopsText(std::optional<std::int64_t> flops);       ///< "1.2 G"
std::string msText(std::optional<double> ms);                   ///< "0.123 ms", "0.700 µs"
std::string msApartText(std::optional<double> ms);              ///< a difference: "+0.700 µs", "−1.25 ms"
std::string msText(std::optional<double> ms, PriceSource how);  ///< "~0.123 ms" where it is fitted
std::string stepsText(const std::vector<double>& stepMs);       ///< "512 steps: mean …, first …, last …"
/// Of a fused node. Of one with bodies also "0.1 ms to ~0.2 ms", by the branch, and "0.1 ms an iteration".
std::string predictedText(const FusedNode& fused);
std::string rangeText(double leastMs, double mostMs, PriceSource how);  ///< "0.1 ms" where they are equal
/// "2.7 MFLOP … 226.3 GFLOP": at the least and at the most extents; one where they are the same.
std::string rangeText(const std::string& least, const std::string& most);
/// "[batch, 3, ?]" of extents as JSON has them: numbers, symbols, or null; `absent` where it tells none.
std::string extentsText(const Json& extents, std::string_view absent, std::string_view separator = ", ");
/// At most `width` characters; what is left out of the middle shows as "…".
std::string shortened(std::string_view text, std::size_t width = 56);

}  // namespace fusescope::cli
