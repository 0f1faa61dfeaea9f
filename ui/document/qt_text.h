#pragma once

#include <QString>
#include <optional>
#include <string>
#include <string_view>

#include "base/data_type.h"
#include "planning/plan.h"

namespace fusescope {

inline QString qs(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<int>(text.size()));
}
inline QString qs(DataType type) {
  return qs(name(type));
}

/// Numbers for people, with a unit: "1.20 M", "3.40 MiB", "0.123 ms"; an absent one is "unknown".
QString countText(std::optional<std::int64_t> count);  ///< "12", "1.20 k", "3.40 M", "5.60 G"
QString bytesText(std::optional<std::int64_t> bytes);
/// Returns "2.7 M … 226 G", for the smallest and the largest extents of the inputs.
QString rangeText(const QString& least, const QString& most);
QString msText(std::optional<double> ms);  ///< "0.700 µs", "0.123 ms", "1.53 s"
QString signedMsText(double ms);           ///< a difference: "+0.700 µs", "−1.25 ms"
/// Returns "0.12 ms, measured before (± 3 %)" or "about 0.12 ms, fitted to other kernels (± 20 %)".
QString predictedText(double ms, PriceSource how, double spread);
QString errorText(double error);  ///< "0", "1.2e-05", "inf", "nan"
/// Returns the text for a fused node; for one with bodies also a range for the branches, or the time of one iteration.
/// Empty if it is unknown.
QString predictedText(const FusedNode& fused);
/// Returns "f16, bf16"; "f32" if nothing else is allowed.
QString precisionsText(const std::vector<DataType>& precisions);
/// Returns "then", "else" or "body" for the attribute that contains a body.
QString bodyTitle(const std::string& attribute);
/// Escapes `text` for HTML.
QString html(std::string_view text);
/// Escapes `text` for an action, a menu, a button, a check box or a tab, in which a single "&" marks the next letter as
/// a shortcut.
QString captionText(const QString& text);
/// Escapes `text` for a tool tip, which would treat names in angle brackets as tags: unchanged if there are none,
/// otherwise as HTML with the same lines.
QString tipText(const QString& text);
/// Returns "3 nodes", "1 node".
QString plural(std::int64_t count, const QString& one, const QString& many = {});

}  // namespace fusescope
