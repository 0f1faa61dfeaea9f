#include "ui/dialogs/export_memory.h"

#include <QDir>
#include <QFileInfo>
#include <QSettings>

#include "ir/graph.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

const QString kExportFormat = QStringLiteral("export/format"), kExportFolder = QStringLiteral("export/folder");
const QString kExportCheck = QStringLiteral("check");

QString exportKey(const Exporter& exporter, const QString& what) {
  return QStringLiteral("export/%1/%2").arg(qs(exporter.name), what);
}
QString exportKey(const Exporter& exporter, const ExporterOption& option, const QString& target) {
  const QString name = qs(option.name);
  return exportKey(exporter, option.proposed == nullptr ? name : QStringLiteral("%1/%2").arg(name, target));
}

}  // namespace

QString rememberedFormat() {
  return QSettings().value(kExportFormat).toString();
}

QString rememberedFolder() {
  const QString folder = QSettings().value(kExportFolder).toString();
  return !folder.isEmpty() && QDir(folder).exists() ? folder : QString();
}

RememberedExport rememberedExport(const Exporter& exporter, const QString& target) {
  const QSettings settings;
  RememberedExport chosen{.check = settings.value(exportKey(exporter, kExportCheck), true).toBool()};
  for (const ExporterOption* option : exporter.options) {
    const QVariant value = settings.value(exportKey(exporter, *option, target));
    if (value.isValid()) chosen.own.emplace(option->name, value.toString().toStdString());
  }
  return chosen;
}

void rememberExport(const Exporter& exporter, const QString& target, const RememberedExport& chosen,
                    const QString& path) {
  QSettings settings;
  settings.setValue(kExportFormat, qs(exporter.name));
  settings.setValue(kExportFolder, QFileInfo(path).absolutePath());
  if (exporter.takesSamples) settings.setValue(exportKey(exporter, kExportCheck), chosen.check);
  for (const ExporterOption* option : exporter.options) {
    if (option->isFile) continue;
    const auto value = chosen.own.find(option->name);
    const QString key = exportKey(exporter, *option, target);
    const bool isProposed = option->proposed != nullptr;  // a value that the user did not enter is proposed again
    if (value == chosen.own.end() && !isProposed) settings.remove(key);
    if (value != chosen.own.end()) settings.setValue(key, qs(value->second));
  }
}

}  // namespace fusescope
