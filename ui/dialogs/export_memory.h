#pragma once

#include <QString>

#include "interchange/exports.h"

namespace fusescope {

// The choices of the last export, which are stored in the settings of the program so that the dialog starts with them:
// the format, the folder, and the options of each format. The log of layer names is not stored, because it belongs to
// one build of one network.

/// The options of one format. `own` has those that were chosen, but no files; one that is proposed for a plan is stored
/// for each target.
struct RememberedExport {
  bool check = true;
  ExporterValues own{};
};

/// Returns the name of the last exporter; empty if nothing was exported yet.
QString rememberedFormat();
/// Returns a folder that exists; empty if none is known.
QString rememberedFolder();
RememberedExport rememberedExport(const Exporter& exporter, const QString& target);
/// Stores the choices for the format, the format as the last one, and the folder of `path`.
void rememberExport(const Exporter& exporter, const QString& target, const RememberedExport& chosen,
                    const QString& path);

}  // namespace fusescope
