#pragma once

namespace fusescope {
class OpRegistry;
}

namespace fusescope::ops {

// One function per family of operators; op_registry.cpp calls them all.
void registerElementwiseUnary(OpRegistry& registry);
void registerActivations(OpRegistry& registry);
void registerElementwiseBinary(OpRegistry& registry);
void registerComparison(OpRegistry& registry);
void registerLogicalBitwise(OpRegistry& registry);
void registerCast(OpRegistry& registry);
void registerMatMul(OpRegistry& registry);
void registerConvolution(OpRegistry& registry);
void registerPooling(OpRegistry& registry);
void registerNormalization(OpRegistry& registry);
void registerBatchNormalization(OpRegistry& registry);
void registerSoftmax(OpRegistry& registry);
void registerReduction(OpRegistry& registry);
void registerView(OpRegistry& registry);
void registerMovement(OpRegistry& registry);
void registerGatherScatter(OpRegistry& registry);
void registerShape(OpRegistry& registry);
void registerPadTile(OpRegistry& registry);
void registerRearrange(OpRegistry& registry);
void registerSelect(OpRegistry& registry);
void registerResize(OpRegistry& registry);
void registerAttention(OpRegistry& registry);
void registerRecurrentAttention(OpRegistry& registry);
void registerQuantization(OpRegistry& registry);
void registerQuantizedProducts(OpRegistry& registry);
void registerEinsum(OpRegistry& registry);
void registerControlFlow(OpRegistry& registry);
void registerScan(OpRegistry& registry);
void registerSequence(OpRegistry& registry);
void registerOptional(OpRegistry& registry);
void registerStrings(OpRegistry& registry);
void registerTfIdf(OpRegistry& registry);
void registerRecurrence(OpRegistry& registry);
void registerDetection(OpRegistry& registry);
void registerRegionPooling(OpRegistry& registry);
void registerGridSample(OpRegistry& registry);
void registerDeformConv(OpRegistry& registry);
void registerFold(OpRegistry& registry);
void registerFourier(OpRegistry& registry);
void registerSignalWindows(OpRegistry& registry);
void registerRandom(OpRegistry& registry);
void registerLoss(OpRegistry& registry);
void registerDeterminant(OpRegistry& registry);
void registerTensorScatter(OpRegistry& registry);
void registerGated(OpRegistry& registry);
void registerLabelEncoder(OpRegistry& registry);
void registerPlannedOnly(OpRegistry& registry);

}  // namespace fusescope::ops
