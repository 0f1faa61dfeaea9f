#pragma once

#include "ui/docks/inspector_text.h"

namespace fusescope {

// What the Inspector says alike of a node and of a fused node, as HTML.

/// Plain text that weighs less than what is around it.
QString dim(const QString& text, const Theme& theme);
/// How an inner edge of a kernel lives: stored, or in registers and in which type.
QString edgeText(const FusedNode& fused, const InnerEdge& edge, const Theme& theme);
/// What is lost of weights that are stored in fewer bits; empty: nothing, or it is still being worked out.
QString lostText(const WorkedOut* workedOut, const Theme& theme);
/// That the target may fuse otherwise than is predicted; empty where it may not.
QString predictionText(const Cover& cover, const FusedNode& fused, const Theme& theme);
/// The types of a kernel that mixes them; empty where it calculates in one.
QString mixedText(const Cover& cover, const FusedNode& fused, const Theme& theme);
/// A row of what something comes to at the least and at the most extents; none where extents are fixed.
void addRange(Rows& rows, const CostRange* range);
/// Rows of its time, and of what part that is of the run; none where nothing is known of it.
void addTimeAndShare(Rows& rows, const FusedNode& fused, const ShownKernelTime& time, const QString& label,
                     const WorkedOut* workedOut, const Theme& theme);

}  // namespace fusescope
