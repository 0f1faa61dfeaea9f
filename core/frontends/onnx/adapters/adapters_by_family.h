#pragma once

#include "frontends/onnx/adapters/adapt_support.h"

/// There is one function per difference between two versions of an operator. The table in adapters.cpp gives the opset
/// before which each applies.
namespace fusescope::adapting {

// slots_adapters.cpp: attributes that became inputs
Result<Nodes> reduceAxes(FileNode node, AdaptContext& context);
Result<Nodes> splitSizes(FileNode node, AdaptContext& context);
Result<Nodes> splitCount(FileNode node, AdaptContext& context);
Result<Nodes> clipBounds(FileNode node, AdaptContext& context);
Result<Nodes> padAmounts(FileNode node, AdaptContext& context);
Result<Nodes> sliceBounds(FileNode node, AdaptContext& context);
Result<Nodes> topKCount(FileNode node, AdaptContext& context);
Result<Nodes> dftAxis(FileNode node, AdaptContext& context);
Result<Nodes> dropoutMask(FileNode node, AdaptContext& context);
Result<Nodes> dropoutRatio(FileNode node, AdaptContext& context);

// resizing_adapters.cpp: sampling
Result<Nodes> upsampleScales(FileNode node, AdaptContext& context);
Result<Nodes> upsampleToResize(FileNode node, AdaptContext& context);
Result<Nodes> resizeSlots(FileNode node, AdaptContext& context);
Result<Nodes> resizeHalfPixelForNearest(FileNode node, AdaptContext& context);
Result<Nodes> emptyInputsAbsent(FileNode node, AdaptContext& context);
Result<Nodes> gridSampleModes(FileNode node, AdaptContext& context);
Result<Nodes> roiAlignCoordinates(FileNode node, AdaptContext& context);

// normalizing_adapters.cpp: normalisation and softmax
Result<Nodes> batchNormPerElement(FileNode node, AdaptContext& context);
Result<Nodes> batchNormTraining(FileNode node, AdaptContext& context);
Result<Nodes> groupNormChannels(FileNode node, AdaptContext& context);
Result<Nodes> softmaxOfMatrix(FileNode node, AdaptContext& context);

// indexing_adapters.cpp: operators that take indices
Result<Nodes> scatterToScatterElements(FileNode node, AdaptContext& context);
Result<Nodes> oneHotNegatives(FileNode node, AdaptContext& context);

// scan_adapters.cpp
Result<Nodes> scanBatch(FileNode node, AdaptContext& context);

}  // namespace fusescope::adapting
