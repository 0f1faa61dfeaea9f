#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace fusescope {

/// A cell of a table of a report.
struct ReportCell {
  std::string html;
  std::optional<double> sort{};  ///< what a number is sorted by; none: by its text
};

/// A table with a caption for those who hear it. Rows behind `kMostRowsAtRest` are folded where scripts run.
class ReportTable {
 public:
  static constexpr std::size_t kMostRowsAtRest = 60;

  struct Column {
    std::string heading;
    bool isNumber = false;
  };
  ReportTable(std::string caption, std::vector<Column> columns);
  /// The first cell is the heading of its row.
  void add(const std::vector<ReportCell>& cells);
  bool empty() const { return m_rows == 0; }
  std::string html() const;

 private:
  std::string m_caption;
  std::vector<Column> m_columns;
  std::string m_body;
  std::size_t m_rows = 0;
};

/// A bar from nothing to `share` of its width, as SVG; `solid`: measured, else hatched. `signedShare` below 0 is less.
std::string reportBar(double share, bool solid);
std::string reportDeltaBar(double signedShare);

/// What stands around all of it: the style, the patterns of bars, the script that sorts and folds.
std::string reportPage(const std::string& title, const std::string& body);

// Quantities of the report's JSON in words; a dash where there is none.
std::string reportTime(const Json& ms);
std::string reportTimeApart(const Json& ms);
std::string reportBytes(const Json& bytes);
std::string reportCount(const Json& count);
std::string reportWork(const Json& flops);
/// How a time is known: "timed", "predicted from measurements", …
std::string reportHow(const Json& how);

}  // namespace fusescope
