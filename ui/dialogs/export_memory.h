#pragma once

#include <QString>
#include <optional>

#include "interchange/exports.h"

namespace fusescope {

// The choices of the last export, which are stored in the settings of the program so that the dialog starts with them:
// the format, the folder, and the options of each format. The log of layer names is not stored, because it belongs to
// one build of one network.

/// The options of one format. `version` is stored for each target, and is null if none was chosen.
struct RememberedExport {
  WeightTypes weights = WeightTypes::Convert;
  BorderTypes borders = BorderTypes::Keep;
  bool check = true;
  std::optional<QString> version{};
};

/// Returns the name of the last exporter; empty if nothing was exported yet.
QString rememberedFormat();
/// Returns a folder that exists; empty if none is known.
QString rememberedFolder();
RememberedExport rememberedExport(const QString& format, const QString& target);
/// Stores the choices for `format`, the format as the last one, and the folder of `path`.
void rememberExport(const QString& format, const QString& target, const RememberedExport& chosen, const QString& path);

}  // namespace fusescope
