#pragma once

#include <QString>
#include <optional>

#include "interchange/exports.h"

namespace fusescope {

// How somebody exported last, kept in the settings of the program, so that the dialog begins with it: the format, the
// folder, and of each format its options. A log of layer names is of one build of one network, and is not kept.

/// What can be chosen for one format. `version` is of one target, and null where nobody chose one.
struct RememberedExport {
  WeightTypes weights = WeightTypes::Convert;
  BorderTypes borders = BorderTypes::Keep;
  bool check = true;
  std::optional<QString> version{};
};

/// The name of an exporter; empty: nothing was exported yet.
QString rememberedFormat();
/// A folder that is there; empty: none is known.
QString rememberedFolder();
RememberedExport rememberedExport(const QString& format, const QString& target);
/// Keeps what was chosen for `format`, that it was the last one, and the folder of `path`.
void rememberExport(const QString& format, const QString& target, const RememberedExport& chosen, const QString& path);

}  // namespace fusescope
