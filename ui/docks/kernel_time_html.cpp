#include "ui/docks/kernel_time_html.h"

#include "ui/document/qt_text.h"

namespace fusescope {

void addTime(Rows& rows, const FusedNode& fused, const ShownKernelTime& known, const QString& label,
             const Theme& theme) {
  const QString how = kindText(known.time.kind, known.made).toHtmlEscaped();
  if (known.measured()) {
    rows.add(label, QStringLiteral("<b>%1</b> <span style='color:%2'>%3</span>")
                        .arg(timeText(known.time), theme.dimText.name(), how));
    if (!known.time.tactic.empty()) rows.add(QStringLiteral("tactic"), html(known.time.tactic));
  } else if (known.time.kind == TimeKind::Emulated) {
    rows.add(label, how);
  } else if (known.time.kind == TimeKind::Reported) {
    rows.add(label, QStringLiteral("<b>%1</b> <span style='color:%2'>%3</span>")
                        .arg(msText(known.time.ms), theme.dimText.name(), how));
  } else if (const QString predicted = predictedText(fused); !predicted.isEmpty()) {
    rows.add(fused.bodyTime ? QStringLiteral("its bodies") : QStringLiteral("predicted"), predicted);
  }
}

}  // namespace fusescope
