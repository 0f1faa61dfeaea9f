#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "layout/layout.h"

namespace fusescope {

/// The program `dot`, where this machine has one; else empty.
QString dotProgram();

/// The edges as `dot` draws the whole of `graph` in one piece, containers as clusters, boxes of the same sizes. Nothing
/// where it takes longer than `seconds` or fails.
std::optional<std::vector<PlacedEdge>> edgesByDot(const QString& dot, const LayoutGraph& graph, int seconds);

/// The same edges, each curve as four straight pieces: what crossings are counted of where pictures of different makers
/// are compared.
std::vector<PlacedEdge> inPieces(const std::vector<PlacedEdge>& edges);

}  // namespace fusescope
