#pragma once

#include <QString>
#include <optional>
#include <string>
#include <string_view>

#include "base/data_type.h"

namespace fusescope {

inline QString qs(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<int>(text.size()));
}
inline QString qs(DataType type) {
  return qs(name(type));
}

/// Numbers for people, with a unit: "1.2 M", "3.4 MB", "0.123 ms"; an absent one is "unknown".
QString countText(std::optional<std::int64_t> count);  ///< "12", "1.2 k", "3.4 M", "5.6 G"
QString bytesText(std::optional<std::int64_t> bytes);
QString msText(std::optional<double> ms);
QString errorText(double error);  ///< "0", "1.2e-05", "inf", "nan"
/// `text` safe inside HTML.
QString html(std::string_view text);
/// "3 nodes", "1 node".
QString plural(std::int64_t count, const QString& one, const QString& many = {});

}  // namespace fusescope
