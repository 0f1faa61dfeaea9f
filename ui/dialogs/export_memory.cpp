#include "ui/dialogs/export_memory.h"

#include <QDir>
#include <QFileInfo>
#include <QSettings>

namespace fusescope {

namespace {

const QString kExportFormat = QStringLiteral("export/format"), kExportFolder = QStringLiteral("export/folder");
const QString kExportKeepWeights = QStringLiteral("keep_weights"),
              kExportPlanBorders = QStringLiteral("borders_of_plan"), kExportCheck = QStringLiteral("check"),
              kExportVersion = QStringLiteral("version");

QString exportKey(const QString& format, const QString& what) {
  return QStringLiteral("export/%1/%2").arg(format, what);
}
QString exportVersionKey(const QString& format, const QString& target) {
  return exportKey(format, QStringLiteral("%1/%2").arg(kExportVersion, target));
}

}  // namespace

QString rememberedFormat() {
  return QSettings().value(kExportFormat).toString();
}

QString rememberedFolder() {
  const QString folder = QSettings().value(kExportFolder).toString();
  return !folder.isEmpty() && QDir(folder).exists() ? folder : QString();
}

RememberedExport rememberedExport(const QString& format, const QString& target) {
  const QSettings settings;
  const auto flag = [&](const QString& what, bool usual) {
    return settings.value(exportKey(format, what), usual).toBool();
  };
  RememberedExport chosen{.weights = flag(kExportKeepWeights, false) ? WeightTypes::Keep : WeightTypes::Convert,
                          .borders = flag(kExportPlanBorders, false) ? BorderTypes::Plan : BorderTypes::Keep,
                          .check = flag(kExportCheck, true)};
  if (const QVariant version = settings.value(exportVersionKey(format, target)); version.isValid())
    chosen.version = version.toString();
  return chosen;
}

void rememberExport(const QString& format, const QString& target, const RememberedExport& chosen, const QString& path) {
  QSettings settings;
  settings.setValue(kExportFormat, format);
  settings.setValue(kExportFolder, QFileInfo(path).absolutePath());
  settings.setValue(exportKey(format, kExportKeepWeights), chosen.weights == WeightTypes::Keep);
  settings.setValue(exportKey(format, kExportPlanBorders), chosen.borders == BorderTypes::Plan);
  settings.setValue(exportKey(format, kExportCheck), chosen.check);
  if (chosen.version) settings.setValue(exportVersionKey(format, target), *chosen.version);
}

}  // namespace fusescope
