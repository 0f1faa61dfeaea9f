#pragma once

#include "ui/docks/inspector_html.h"
#include "ui/docks/kernel_time_html.h"
#include "ui/docks/selection_answers.h"

namespace fusescope {

// Parts of the Inspector's HTML that are the same for a node and for a fused node.

/// Returns plain text in the colour for secondary text.
QString dim(const QString& text, const Theme& theme);
/// Returns whether an inner edge of a kernel is stored, or is in registers and in which type.
QString edgeText(const FusedNode& fused, const InnerEdge& edge, const Theme& theme);
/// Returns the text about the loss of weights that are stored in fewer bits; empty if there is none, or while it is
/// being computed.
QString lostText(const SelectionAnswers* answers, const Theme& theme);
/// Returns the text that the target may fuse differently from the prediction; empty if it may not.
QString predictionText(const Cover& cover, const FusedNode& fused, const Theme& theme);
/// Returns the types of a kernel that mixes several; empty if it calculates in one type.
QString mixedText(const Cover& cover, const FusedNode& fused, const Theme& theme);
/// Adds a row with a quantity at the smallest and the largest extents; none if extents are fixed.
void addRange(Rows& rows, const CostRange* range);
/// Adds rows with its time and its share of the run; none if nothing is known.
void addTimeAndShare(Rows& rows, const FusedNode& fused, const ShownKernelTime& time, const QString& label,
                     const SelectionAnswers* answers, const Theme& theme);

}  // namespace fusescope
