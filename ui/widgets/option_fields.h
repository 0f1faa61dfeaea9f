#pragma once

#include <QString>
#include <cstdint>
#include <optional>

#include "session/operations/option.h"

class QDoubleSpinBox;
class QSpinBox;
class QWidget;

namespace fusescope {

// A field has the range of the command line's option, and as its tool tip those sentences of the option's help that are
// not about other options.
void describe(QWidget& field, const Option& option);  ///< sets the tool tip only
/// If `whenNone` is not empty, 0 means that the option is not given, and the field shows `whenNone` for it.
void describe(QSpinBox& field, const Option& option, const QString& whenNone = {});
void describe(QDoubleSpinBox& field, const Option& option, const QString& whenNone = {});

// A field in GiB for an option that counts bytes.
/// Gives the field the range of the option. If the option has a default in words, the field shows it one GiB below the
/// range, where the option is not given, and starts there.
void describeBytes(QDoubleSpinBox& field, const Option& option, int decimals);
/// Returns the bytes; nothing if the option is not given.
std::optional<std::int64_t> bytesIn(const QDoubleSpinBox& field);
void setBytes(QDoubleSpinBox& field, std::int64_t bytes);

}  // namespace fusescope
