#include "ui/docks/inspector_html.h"

#include <QUrl>
#include <set>

#include "ui/document/made_words.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kDeepestWalk = 4;

QString mark(const Decision& decision, const Theme& theme) {
  return QStringLiteral("<span style='color:%1'>%2</span>")
      .arg((decision.allowed ? theme.success : theme.error).name(),
           decision.allowed ? QStringLiteral("✓") : QStringLiteral("✗"));
}

QString walk(const PlanSnapshot& snapshot, std::uint32_t index, int depth, std::set<std::uint32_t>& seen,
             const Theme& theme) {
  const auto& all = snapshot.cover->decisions;
  if (index >= all.size() || !seen.insert(index).second) return {};
  const Decision& decision = all[index];
  QString text =
      QStringLiteral("<div style='margin-left:%1px; margin-bottom:3px'>%2%3 %4 <span style='color:%5'>%6</span></div>")
          .arg(depth * 14)
          .arg(depth > 0 ? QStringLiteral("because ") : QString(), mark(decision, theme),
               inWindowWords(decision).toHtmlEscaped(), theme.dimText.name(), html(decision.code));
  if (depth == kDeepestWalk) return text;
  for (const std::uint32_t evidence : decision.evidence) text += walk(snapshot, evidence, depth + 1, seen, theme);
  return text;
}

}  // namespace

QString heading(const QString& text, const Theme& theme) {
  return QStringLiteral("<p style='margin-top:12px; margin-bottom:3px; color:%1'><b>%2</b></p>")
      .arg(theme.dimText.name(), text);
}

QString title(const QString& text, const QString& second, const Theme& theme) {
  return QStringLiteral(
             "<p style='margin:0; font-size:large'><b>%1</b></p><p style='margin:2px 0 4px 0; color:%3'>%2</p>")
      .arg(text, second, theme.dimText.name());
}

QString badge(DataType type, const Theme& theme) {
  if (type == DataType::Undefined) return {};
  const Swatch swatch = precisionSwatch(type, theme);
  return QStringLiteral("<span style='background-color:%1; color:%2'><b>&nbsp;%3&nbsp;</b></span>")
      .arg(swatch.color.name(), readableOn(swatch.color).name(), qs(type));
}

QString typeBadge(DataType type, const Theme& theme) {
  return type == DataType::Undefined ? undisclosed() : badge(type, theme);
}

QString nodeLink(const std::string& name) {
  return QStringLiteral("<a href='node:%1'>%2</a>")
      .arg(QString::fromUtf8(QUrl::toPercentEncoding(qs(name))), html(name));
}

QString withLinks(const QString& text, const PlanSnapshot& snapshot) {
  QString linked;
  const QStringList parts = text.split(QLatin1Char('\''));
  for (int i = 0; i < parts.size(); ++i) {
    if (i > 0) linked += QLatin1Char('\'');
    const std::string name = parts[i].toStdString();
    const bool quoted = i % 2 == 1 && i + 1 < parts.size();
    linked += quoted && !snapshot.nodesNamed(name).empty() ? nodeLink(name) : parts[i].toHtmlEscaped();
  }
  return linked;
}

QString decisionsText(const PlanSnapshot& snapshot, const std::vector<std::uint32_t>& indices, const Theme& theme) {
  QString text;
  std::set<std::uint32_t> seen;
  std::size_t listed = 0;
  for (const std::uint32_t index : indices) {
    if (++listed > kMostListed)
      return text + QStringLiteral("<div>… and %1 more</div>").arg(indices.size() - kMostListed);
    text += walk(snapshot, index, 0, seen, theme);
  }
  return text;
}

QString decisionText(const PlanSnapshot& snapshot, std::uint32_t index, const Theme& theme) {
  std::set<std::uint32_t> seen;
  return walk(snapshot, index, 0, seen, theme);
}

}  // namespace fusescope
