#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "ui/document/plan_snapshot.h"
#include "ui/theme/theme.h"

namespace fusescope {

// Parts from which the Inspector's HTML is made.

/// The largest number of entries of a list that are shown.
constexpr std::size_t kMostListed = 60;

QString heading(const QString& text, const Theme& theme);
QString title(const QString& text, const QString& second, const Theme& theme);
/// Returns the type on its colour; empty if it is undefined.
QString badge(DataType type, const Theme& theme);
/// Returns the same, or the text that the type is not disclosed.
QString typeBadge(DataType type, const Theme& theme);
/// Returns a link to a node, segment or value by name, or to a fused node by its handle.
QString nodeLink(const std::string& name);
/// Escapes `text` for HTML, and makes links of names in single quotes that are nodes or values of the plan.
QString withLinks(const QString& text, const PlanSnapshot& snapshot);
/// Returns decisions as a list, each with the evidence that it is based on.
QString decisionsText(const PlanSnapshot& snapshot, const std::vector<std::uint32_t>& indices, const Theme& theme);

/// Returns a decision with the chain of evidence that it is based on.
QString decisionText(const PlanSnapshot& snapshot, std::uint32_t index, const Theme& theme);

/// A table of keys and values.
class Rows {
 public:
  explicit Rows(const Theme& theme) : m_theme(theme) {}
  void add(const QString& key, const QString& value) {
    m_rows +=
        QStringLiteral("<tr><td style='padding:1px 12px 1px 0; color:%1'>%2</td><td style='padding:1px 0'>%3</td></tr>")
            .arg(m_theme.dimText.name(), key, value);
  }
  QString text() const {
    return m_rows.isEmpty() ? QString()
                            : QStringLiteral("<table cellspacing='0' cellpadding='0'>%1</table>").arg(m_rows);
  }

 private:
  const Theme& m_theme;
  QString m_rows;
};

}  // namespace fusescope
