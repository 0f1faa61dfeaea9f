#include <dnnl.hpp>

#include "backends/native/lowering/emitter.h"
#include "backends/native/lowering/epilogue_chain.h"
#include "backends/native/lowering/quantized_kernels.h"
#include "backends/native/lowering/quantized_parts.h"
#include "backends/native/lowering/tape_nodes.h"
#include "backends/native/steps/quantize_planes_step.h"

// Convolutions and products of codes, and the kernels by which they run.
namespace fusescope::native {
namespace {

constexpr KernelKind kQuantizeKernel{.name = "quantize"};

/// Returns whether sums of products of bytes never saturate with the instructions that oneDNN may use here.
bool sumsOfOneDnnAreExact() {
  using Isa = dnnl::cpu_isa;
  static const bool exact = [] {
    switch (dnnl::get_effective_cpu_isa()) {
      case Isa::isa_default:
      case Isa::sse41:
      case Isa::avx:
      case Isa::avx2:
      case Isa::avx512_core:
        return false;
      default:
        return true;
    }
  }();
  return exact;
}

/// Quantises the source if the kernel does that itself: a few planes become codes with channels last in one pass.
Status quantizeSource(Context& context, const QuantizedChain& chain) {
  if (!chain.quantize.valid()) return Done{};
  const Node& quantize = context.node(chain.quantize);
  const Ref x = TRY(context.ref(quantize.input(0)));
  const bool planes = context.node(chain.root).is("Conv") && !context.options().ownBytes && sumsOfOneDnnAreExact() &&
                      x.contiguous() && x.dtype == DataType::F32 && x.dims[1] <= kMostPlanes;
  if (!planes) return context.emitTape({chain.quantize});
  const CodeScale codes = *codeScaleOf(context, quantize);
  const Ref target = context.allocateScratch(codes.type, x.dims, MemoryFormat::channelsLast(x.dims.size()));
  context.chose({.kind = kQuantizeKernel});
  context.program().addStep(
      makeQuantizePlanesStep(x, target, *context.constantNumber(codes.scale), codes.zero, context.threads()),
      {x.buffer}, {target.buffer});
  context.define(chain.source, target);
  return Done{};
}

/// Runs the nodes on the float kernels, which give the results of the plan at the speed of floats.
Status emitAsFloats(Context& context, const QuantizedChain& chain) {
  for (const NodeId id : context.fused().nodes) {
    const Node& node = context.node(id);
    if (!chain.absorbed.contains(id) || context.isDefined(node.outputs[0])) continue;
    TRY(isPointwise(context, node) ? context.emitTape({id}) : emitNode(context, node));
  }
  TRY(emitNode(context, context.node(chain.root)));
  leaveQuantized(context, chain, 0);
  return Done{};
}

Status emitChainOfCodes(Context& context, const QuantizedChain& chain) {
  TRY(quantizeSource(context, chain));
  const Node& root = context.node(chain.root);
  const bool byOneDnn = !context.options().ownBytes && sumsOfOneDnnAreExact();
  if (chain.right.valid()) {
    if (byOneDnn && TRY(emitProductOfCodes(context, chain))) return Done{};
    return emitOwnProductOfCodes(context, chain);
  }
  const auto emit = isConvolution(root) ? emitQuantizedConv : emitQuantizedMatrix;
  if (byOneDnn && weightsAreSymmetric(context, chain) && TRY(emit(context, chain))) return Done{};
  const bool hasOwn = root.is("Conv") ? canConvolveBytes(context, root) : !isConvolution(root);
  return hasOwn ? emitOwnQuantized(context, chain) : emitAsFloats(context, chain);
}

/// Returns all nodes that the chain calculates.
std::set<NodeId> nodesOf(const QuantizedChain& chain) {
  std::set<NodeId> nodes = chain.absorbed;
  nodes.insert(chain.root);
  for (const QuantizedChain::Operation& operation : chain.operations)
    nodes.insert(operation.nodes.begin(), operation.nodes.end());
  if (chain.result) nodes.insert(chain.last);
  return nodes;
}

void claimQuantized(Context& context, Units& units) {
  for (const RootBinding& root : kernelBindings(context.fused()).roots) {
    const ValueId result = context.node(root.root).outputs[0];
    if (units.isClaimed(root.root) || context.typeOf(result) != DataType::F32) continue;
    const auto chain = quantizedChainAfter(context, root);
    if (!chain) continue;
    const std::set<NodeId> nodes = nodesOf(*chain);
    if (std::ranges::any_of(nodes, [&](NodeId each) { return units.isClaimed(each); })) continue;
    const auto emit = [chain = *chain](Context& at) -> Status {
      TRY(at.flush());
      return emitChainOfCodes(at, chain);
    };
    units.add(chain->last, emit, nodes);
  }
}

}  // namespace

extern const Emitter kQuantizedEmitter{.name = "quantized", .claim = claimQuantized};

}  // namespace fusescope::native
