#pragma once

#include "frontends/onnx/plain_forms/plain_support.h"

/// There is one function per operator, or for a few similar ones. It adds the operator's plain form to `form`. The
/// table in plain_forms.cpp lists the slots that must be present. The meaning of each operator is from ONNX Runtime's
/// ContribOperators.md, and was checked against results of ONNX Runtime (tests/unit/frontends/plain_forms_test.cpp).
namespace fusescope::plain {

// activation_forms.cpp
Status gelu(Form& form);
Status fastGelu(Form& form);
Status biasGelu(Form& form);
Status quickGelu(Form& form);
Status biasAdd(Form& form);
Status biasSplitGelu(Form& form);
Status gemmFastGelu(Form& form);

// norm_forms.cpp
Status rmsNorm(Form& form);
Status skipLayerNorm(Form& form);
Status skipRmsNorm(Form& form);
Status embedLayerNorm(Form& form);
Status quantizedEmbedLayerNorm(Form& form);
Status groupNorm(Form& form);

// product_forms.cpp
Status fusedMatMul(Form& form);
Status fusedGemm(Form& form);
Status fusedConv(Form& form);
Status channelsLastConv(Form& form);
Status channelsLastMaxPool(Form& form);

// attention_forms.cpp
Status attention(Form& form);
Status quantizedAttention(Form& form);
Status multiHeadAttention(Form& form);

// grouped_attention_forms.cpp
Status groupQueryAttention(Form& form);
Status rotaryEmbedding(Form& form);

// quantized_forms.cpp
Status quantizedBinary(Form& form);
Status quantizedUnary(Form& form);
Status quantizedSoftmax(Form& form);
Status quantizedPool(Form& form);
Status quantizedReduceMean(Form& form);
Status quantizedConcat(Form& form);
Status quantizedWhere(Form& form);

// quantized_product_forms.cpp
Status quantizedConv(Form& form);
Status quantizedGemm(Form& form);
Status dynamicQuantizeMatMul(Form& form);
Status matMulIntegerToFloat(Form& form);

// low_bit_forms.cpp
Status matMulNBits(Form& form);
Status gatherBlockQuantized(Form& form);

// renamed_forms.cpp: operators that ai.onnx took over
Status renamed(Form& form);
Status tableOfMaps(Form& form);
Status expandDims(Form& form);
Status pairwiseDistance(Form& form);

}  // namespace fusescope::plain
