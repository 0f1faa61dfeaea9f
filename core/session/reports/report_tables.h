#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"

namespace fusescope {

/// Escapes text for use between tags and in attributes.
std::string escapedHtml(const std::string& text);

/// A cell in a table of a report.
struct ReportCell {
  std::string html;
  std::optional<double> sort{};  ///< the number by which it is sorted; nothing: sorted by its text
};

/// A table with a caption for screen readers. Rows beyond `kMostRowsAtRest` are folded if scripts run.
class ReportTable {
 public:
  static constexpr std::size_t kMostRowsAtRest = 60;

  struct Column {
    std::string heading;
    bool isNumber = false;
  };
  ReportTable(std::string caption, std::vector<Column> columns);
  /// Adds a row, whose first cell is its heading.
  void add(const std::vector<ReportCell>& cells);
  bool empty() const { return m_rows == 0; }
  std::string html() const;

 private:
  std::string m_caption;
  std::vector<Column> m_columns;
  std::string m_body;
  std::size_t m_rows = 0;
};

/// Returns a bar of `share` of its width as SVG; `solid` means measured, otherwise it is hatched. A negative
/// `signedShare` means less.
std::string reportBar(double share, bool solid);
std::string reportDeltaBar(double signedShare);

/// Returns the whole page with the style, the patterns of bars, and the script that sorts and folds.
std::string reportPage(const std::string& title, const std::string& body);

// These return quantities in the report's JSON as text, or a dash if they are missing.
std::string reportTime(const Json& ms);
std::string reportTimeApart(const Json& ms);
std::string reportBytes(const Json& bytes);
std::string reportCount(const Json& count);
std::string reportWork(const Json& flops);
/// Returns the source of a time: "timed", "predicted from measurements", …
std::string reportHow(const Json& how);

}  // namespace fusescope
