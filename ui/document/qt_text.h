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
/// "2.7 M … 226 G": at the least and at the most extents of the inputs.
QString rangeText(const QString& least, const QString& most);
QString msText(std::optional<double> ms);  ///< "0.700 µs", "0.123 ms", "1.53 s"
QString signedMsText(double ms);           ///< a difference: "+0.700 µs", "−1.25 ms"
/// "0.12 ms, measured before (± 3 %)", "about 0.12 ms, fitted to other kernels (± 20 %)".
QString predictedText(double ms, PriceSource how, double spread);
QString errorText(double error);  ///< "0", "1.2e-05", "inf", "nan"
/// Of a fused node; of one with bodies also a range, by the branch that is taken, or the time of one iteration. Empty
/// where it is unknown.
QString predictedText(const FusedNode& fused);
/// "f16, bf16"; "f32" where nothing else may be used.
QString precisionsText(const std::vector<DataType>& precisions);
/// "then", "else", "body": for people, of the attribute that holds a body.
QString bodyTitle(const std::string& attribute);
/// `text` safe inside HTML.
QString html(std::string_view text);
/// `text` for an action, a menu, a button, a check box or a tab, which take a lone "&" for the mark of the key behind
/// it.
QString captionText(const QString& text);
/// `text` for a tool tip, which takes names in angle brackets for tags: as it is where there are none, else as HTML
/// that shows it as it is, line by line.
QString tipText(const QString& text);
/// "3 nodes", "1 node".
QString plural(std::int64_t count, const QString& one, const QString& many = {});

}  // namespace fusescope
