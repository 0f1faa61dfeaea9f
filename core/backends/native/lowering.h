#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backends/native/attention_step.h"
#include "backends/native/code_table.h"
#include "backends/native/onednn.h"
#include "backends/native/program.h"
#include "backends/native/quantized_chain.h"
#include "backends/native/rounding.h"
#include "backends/native/tape_builder.h"
#include "backends/native/view.h"
#include "backends/native/weight.h"

namespace fusescope::native {

/// How a fused node is to be lowered.
struct LoweringOptions {
  std::vector<MemoryFormat> inputFormats, outputFormats;  ///< as the fused node's inputs and outputs
  bool fuse = true;                                       ///< false: node by node ("composite")
  bool ownMatMul = false;  ///< matrix products by our own kernel where it can, else by oneDNN
  bool ownBytes = false;   ///< products of codes by our own kernels
  /// Convolutions and products by instructions of the narrow float that they calculate in, where oneDNN has them for
  /// what lies in it; else all is widened.
  bool narrow = false;
  /// What a convolution inside reads and writes; nothing: what oneDNN prefers.
  std::optional<std::pair<MemoryFormat, MemoryFormat>> convFormats;
  bool probe = false;  ///< only to learn what it would be: oneDNN generates no code, the kernel cannot run
};

/// A convolution or matrix product with what follows it as post-operations.
struct Chain {
  enum class Kind { Bias, BatchNorm, Activation, Swish, Residual, Cast };
  struct Operation {
    Kind kind;
    NodeId node;
    ValueId operand;  ///< Bias, Residual: the other operand
    /// Nodes of the chain that it stands for.
    std::size_t nodeCount() const { return kind == Kind::Swish ? 2 : 1; }
    bool isActivation() const { return kind == Kind::Activation || kind == Kind::Swish; }
  };
  NodeId root;
  std::vector<NodeId> nodes;  ///< the root first
  std::vector<Operation> operations;
  ValueId result;
};

/// softmax(query · key, changed by `terms`) · value, as the bindings of a fused node say it.
struct AttentionPattern {
  /// One change of the scores, in order: as ScoreTerm, by `number` where there is no operand.
  struct Term {
    ScoreTerm::Kind kind;
    ValueId condition, operand;
    float number = 0;
    ValueId scores;  ///< that it leaves: as it sees them, their batches may be split into more axes
  };
  std::set<NodeId> nodes;
  NodeId last;
  std::map<NodeId, ValueId> scales;  ///< nodes before the first product that only scale, and what: in `terms`
  ValueId query, key, value;         ///< operands of the products; `key` is read as [.., depth, keys]
  std::vector<Term> terms;
  std::optional<float> guard;              ///< what probabilities that are not a number become
  DataType weights = DataType::Undefined;  ///< as AttentionCall::weights
  ValueId scores, result;
};

/// (x - mean) / sqrt(variance + epsilon) · scale + bias, by one node or as the bindings of a fused node say it.
struct NormPattern {
  std::set<NodeId> nodes;
  NodeId last;
  ValueId input, scale, bias;    ///< no scale: 1; no bias: 0
  std::vector<ValueId> results;  ///< the norm; mean and 1 / deviation where they are wanted
  std::string_view name;
  float epsilon = 0;
  bool centred = true;                     ///< false: root mean square norm
  std::int64_t count = 1;                  ///< elements that are normalised together, next to each other
  std::int64_t weighted = 1;               ///< elements over which scale and bias run once
  std::int64_t groups = 0;                 ///< of channels, in which case `weighted` are those of an image; 0: rows
  DataType rounded = DataType::Undefined;  ///< to this, before scale and bias
};

/// Sums of products of codes, what each is multiplied by and what is added then.
struct ScaledSums {
  Ref sums, scale;
  std::optional<Ref> bias;
};

struct EpilogueTape;    // exact_epilogue.h
struct AttentionViews;  // lower_attention.cpp
struct PreparedConv;    // lower_conv.cpp
struct DescribedConv;   // lower_conv.cpp
struct PreparedMatMul;  // lower_matmul.cpp
struct OwnMatMul;       // lower_matmul.cpp
struct CodeMatrix;      // code_panels.h
struct ByteOperands;    // lower_bytes.cpp
struct QuantizedParts;  // quantized_parts.h
struct Window;          // window.h

/// Turns a fused node into a program: a walk over its nodes in graph order that keeps views (reshapes, transpositions,
/// slices) as strided references, gathers pointwise nodes into tapes, gives convolutions and matrix products what
/// follows them as post-operations, and builds attention and norms from the bindings of the plan. What it does not know
/// runs by the reference kernel of the operator. Floats are f32 inside, rounded as the contract says (rounding.h), so
/// every fused node that calculates in f32, bf16 or f16 can be lowered.
class Lowering {
 public:
  Lowering(const KernelRequest& request, LoweringOptions options);
  /// The code; errors come from oneDNN or from constants without data.
  Result<std::unique_ptr<const Code>> lower();
  /// Short descriptions of the implementations that were chosen ("conv:jit:avx2"), in order.
  const std::vector<std::string>& implementations() const { return m_implementations; }

  struct ConvFormats {
    ValueId source;
    Dims result;
    MemoryFormat from, to;
  };
  /// Of the first convolution inside, after lower().
  const std::optional<ConvFormats>& convFormats() const { return m_convFormats; }
  /// Convolutions and products that run on codes of 8 bits, after lower().
  std::size_t integerRoots() const { return m_integerRoots; }
  /// Whether something is multiplied by instructions of a narrow float, after lower(). They take subnormals for zero.
  bool multipliesNarrow() const { return m_multipliesNarrow; }

  /// Whether lower() can run it: it calculates in f32, bf16, f16 or no float at all, or only moves elements.
  static bool canLower(const KernelRequest& request);
  /// Whether the plan says what is what in an attention of several nodes.
  static bool hasBoundAttention(const FusedNode& fused);

 private:
  // Values (lowering_values.cpp).
  static bool isReshape(const Node& node);  ///< other extents of the same elements
  static bool onlyMoves(const Node& node);  ///< whatever the type of the elements
  /// The one type of all floats where elements are only moved: they stay what they are. Else undefined.
  static DataType keptType(const KernelRequest& request);
  const Node& node(NodeId id) const { return m_graph.node(id); }
  const TensorDesc& desc(ValueId value) const { return m_request.values.at(value); }
  /// A constant that no view or copy stands for yet, where floats are not kept as they are.
  bool isUntouchedConstant(ValueId value) const {
    return m_kept == DataType::Undefined && isConstant(value) && !m_refs.contains(value) && !m_views.contains(value);
  }
  /// The narrow float that holds all of a constant as it is read; Undefined: none.
  DataType narrowTypeOf(ValueId constant) const;
  Result<Ref> narrowConstant(ValueId value, DataType type);
  bool isConstant(ValueId value) const { return m_folded.contains(value) || m_request.constants.contains(value); }
  /// A constant whose numbers become part of the code; null if it is none. Weights are for weight().
  const Tensor* constant(ValueId value) const;
  /// A constant that only packings read. It must be one.
  Weight weight(ValueId value) const;
  /// The same before it is rounded as it is read: for packings that round it themselves, without a copy in between.
  Weight rawWeight(ValueId value) const;
  std::optional<float> constantNumber(ValueId value) const;  ///< of a constant of one element
  const Dims& constantDims(ValueId value) const;             ///< it must be one
  DataType constantType(ValueId value) const;                ///< it must be one
  Dims dimsOf(ValueId value) const;
  DataType typeOf(ValueId value) const;
  /// As nodes read it: f32, rounded where the contract says so.
  Result<Ref> ref(ValueId value);
  /// The same, but what lies in memory as a narrow float may still do so.
  Result<Ref> seen(ValueId value);
  Result<Ref> held(ValueId value);  ///< as it was made, or found in memory
  /// The type that seen() gives of what is there already.
  DataType seenType(ValueId value) const;
  /// As `type`, a narrow float, where it is just that to whoever reads it; else nothing.
  Result<std::optional<Ref>> narrowed(ValueId value, DataType type);
  /// To what nodes round `value` where they read it; Undefined: they do not.
  DataType readType(ValueId value) const;
  bool isRounded(ValueId value) const;  ///< where nodes read it
  /// Whether nodes are lowered one by one.
  bool isUnfused() const { return !m_options.fuse || m_rounding.differs(); }
  /// As ref() and seen(), where it lies, even if one Ref cannot say that.
  Result<View> view(ValueId value);
  Result<View> seenView(ValueId value);
  /// How it comes of an operand of the fused node; nothing if it is calculated or copied inside.
  std::optional<ViewOrigin> origin(ValueId value) const;
  ExtentsOf extentsOf(ValueId value) const;
  bool isDefined(ValueId value) const { return m_refs.contains(value) || m_views.contains(value); }
  void define(ValueId value, Ref ref) { m_refs[value] = std::move(ref); }
  Status defineSame(ValueId value, ValueId source);
  /// `value` is another look at `source`; copies that if it must.
  Status defineLook(ValueId value, ValueId source, const ViewOrigin::Look& look);
  bool isFusedOutput(ValueId value) const { return m_outputIndex.contains(value); }
  std::vector<NodeId> consumers(ValueId value) const;  ///< within the fused node
  /// The only consumer within the fused node of a value that nobody else needs.
  std::optional<NodeId> onlyConsumer(ValueId value) const;
  std::optional<NodeId> producer(ValueId value) const;  ///< within the fused node
  /// The nodes of the fused node on the ways from `from` to `to`; empty if there is no way.
  std::set<NodeId> between(ValueId from, ValueId to) const;
  /// Whether nobody but `nodes` needs what they make, besides `result`.
  bool leavesOnly(const std::set<NodeId>& nodes, ValueId result) const;
  /// What is calculated of constants alone is a weight.
  void foldConstants();
  Ref packedRef(const Dims& dims, Packing packing);  ///< f32, row-major

  // Places, formats and types (lowering_places.cpp).
  /// Where `value` is to be written: the output's buffer where that is possible, else scratch.
  Ref allocate(ValueId value, const MemoryFormat& format = {}) { return allocate(value, format, typeOf(value)); }
  Ref allocate(ValueId value, const MemoryFormat& format, DataType type);
  /// The type at which a kernel may write `value` at once: the narrow one that it is rounded to for all who read it, or
  /// that of the output that it is or is seen as, if nobody inside reads more of it; else typeOf().
  DataType storedType(ValueId value) const;
  Ref allocateScratch(DataType type, const Dims& dims, const MemoryFormat& format = {});
  /// The same tensor row-major and without gaps; copies if it must.
  Result<Ref> plain(const Ref& ref);
  /// The same tensor found by strides; copies only where strides cannot say its format.
  Result<Ref> strided(const Ref& ref);
  /// The same tensor in `format`; copies if it must.
  Result<Ref> inFormat(const Ref& ref, const MemoryFormat& format);
  Result<Ref> widened(const Ref& ref);
  Result<Ref> rounded(const Ref& ref, DataType type);
  void copyStrided(const Ref& from, const Ref& to);
  Status reorder(const Ref& from, const Ref& to);  ///< between formats; what is plain is row-major
  Status convertType(const Ref& from, const Ref& to);

  // The walk (lowering.cpp).
  Status bindInputs();
  Status lowerNodes();
  bool waits(const std::vector<ValueId>& values) const;  ///< whether pending nodes make one of them
  Status lowerNode(const Node& node);
  Status finishOutputs();
  Status finishOutput(std::size_t index);
  Status lowerReference(const Node& node);

  // Pointwise (lower_pointwise.cpp).
  bool isPointwise(const Node& node) const;
  bool isTapeQuantization(const Node& node) const;
  /// Integer arithmetic and choices, outside tapes. Returns whether it took the node.
  Result<bool> lowerInteger(const Node& node);
  Status flushPointwise();
  Status emitTape(const std::vector<NodeId>& nodes);
  Result<Ref> tapeInput(const TapeBuilder::Input& input);
  bool isTapeBatchNorm(const Node& node) const;
  /// What a BatchNormalization of constants multiplies by or adds (`isShift`) per channel.
  Ref batchNormPart(const Node& norm, bool isShift);
  /// Row-major `codes` into `target`.
  void dequantize(const Node& node, const Ref& codes, const Ref& target);
  /// A new tensor: `ref`, which is row-major, times `factor`.
  Ref scaled(const Ref& ref, float factor);

  // Views and movement (lower_views.cpp, lower_movement.cpp). Each returns whether it took the node.
  Result<bool> lowerView(const Node& node);
  /// What `node` sees of its input; nothing if it is no view, or one that depends on data.
  std::optional<ViewOrigin::Look> lookOf(const Node& node) const;
  std::optional<ViewOrigin::Look> sliceOf(const Node& slice) const;
  Result<bool> lowerSplit(const Node& split);
  Result<bool> lowerMovement(const Node& node);
  Status lowerConcat(const Node& node);
  Status lowerGather(const Node& node);
  const Node* dequantizedTable(const Node& gather) const;
  Result<bool> lowerGatherNd(const Node& node);
  Status lowerPad(const Node& node);

  // Rows, reductions, pooling (lower_rows.cpp, lower_pool.cpp).
  Result<bool> lowerRows(const Node& node);
  Status lowerSoftmax(const Node& node, std::size_t axis);
  Result<bool> lowerReduce(const Node& node);
  /// Which axes it takes together; nothing if that depends on data or it takes none.
  std::optional<std::vector<bool>> reducedAxes(const Node& reduce, std::size_t rank) const;
  Result<bool> lowerPool(const Node& node);
  Result<bool> lowerNarrowPool(const Node& node, const Window& window);
  Result<bool> lowerResize(const Node& node);
  Result<bool> lowerRoiAlign(const Node& node);  ///< lower_roi_align.cpp
  Result<bool> lowerTopK(const Node& node);      ///< lower_top_k.cpp

  // LSTM and GRU (lower_recurrence.cpp).
  Result<bool> lowerRecurrence(const Node& node);

  // Bytes (lower_bytes.cpp). lower… return whether they took the node.
  Result<bool> lowerBytes(const Node& node);
  Result<bool> lowerDynamicQuantize(const Node& node);
  /// Nothing if it cannot be run: filters that are no constants, more zero points than one for the first operand.
  Result<std::optional<ByteOperands>> byteOperands(const Node& node);
  bool areByteZeros(const Node& node, ValueId zeros, ValueId codes) const;
  bool takeByteWeights(const Node& node, ByteOperands& operands) const;
  void emitByteProduct(const ByteOperands& operands, const Ref& sums);
  void emitByteBatch(const ByteOperands& operands, const Ref& sums);
  void emitByteConv(const Node& node, const ByteOperands& operands, const Ref& sums);
  bool canRequantize(const Node& node) const;  ///< scales and zero points are constants
  std::int64_t requantizedChannels(const Node& node) const;
  void emitRequantize(const Node& node, const Ref& sums);

  // Convolutions and products of codes (lower_quantized.cpp, lower_quantized_roots.cpp).
  /// Whether sums of products of bytes never saturate on the way, with what oneDNN may use here.
  static bool sumsOfOneDnnAreExact();
  bool isQuantizationOfBytes(const Node& node) const;
  std::optional<CodeScale> codeScaleOf(const Node& node) const;
  std::optional<QuantizedChain> quantizedRoot(const Node& root) const;
  std::optional<QuantizedChain> quantizedChainAfter(const Node& root) const;
  void leaveCodes(QuantizedChain& chain) const;
  std::optional<QuantizedChain::Operation> quantizedOperation(const QuantizedChain& chain, ValueId value,
                                                              const Node& next) const;
  std::optional<QuantizedChain::Operation> quantizedSum(const QuantizedChain& chain, ValueId value,
                                                        const Node& sum) const;
  bool isPerChannel(ValueId value, const Node& root) const;
  ValueId firstUnit(const QuantizedChain& chain) const;
  void takeQuantized(QuantizedChain chain, std::set<NodeId>& taken);
  Status lowerQuantized(const QuantizedChain& chain);
  Status quantizeSource(const QuantizedChain& chain);
  void leaveQuantized(const QuantizedChain& chain, std::size_t taken);
  bool canMultiplyCodes(const QuantizedChain& chain) const;
  bool mayHoldNaN(ValueId constant) const;
  bool weightsAreSymmetric(const QuantizedChain& chain) const;  ///< codes less 128 where they are unsigned
  QuantizedParts foldQuantized(const QuantizedChain& chain, const Dims& target, const MemoryFormat& format) const;
  /// They return whether oneDNN has it.
  Result<bool> lowerQuantizedConv(const QuantizedChain& chain);
  Result<bool> lowerQuantizedProduct(const QuantizedChain& chain);
  Result<bool> lowerProductOfCodes(const QuantizedChain& chain);  ///< of two that are no constants
  void emitQuantizedProduct(const QuantizedChain& chain, const QuantizedParts& parts,
                            const dnnl::matmul::primitive_desc& description, std::vector<DnnlStep::Argument> arguments,
                            const std::vector<BufferIndex>& reads, const Ref& result);
  Result<Ref> signedCodes(const Ref& codes);  ///< uint8 less 128
  std::optional<CodeScale> codesBehind(ValueId value, bool throughViews, QuantizedChain& chain, ValueId& codes) const;
  Status lowerOwnQuantized(const QuantizedChain& chain);
  Status lowerOwnProductOfCodes(const QuantizedChain& chain);
  bool canConvolveBytes(const Node& root) const;  ///< by our own kernel
  Ref zeroOf(const CodeScale& codes);
  Status lowerAsFloats(const QuantizedChain& chain);
  /// The rest of what a step of `parts` is called with, packed.
  void addQuantizedArguments(const QuantizedChain& chain, const QuantizedParts& parts,
                             std::vector<DnnlStep::Argument>& arguments);
  void addZeroPoint(int of, float zero, std::vector<DnnlStep::Argument>& arguments);
  Packing quantizedScales(const QuantizedChain& chain, ValueId unit) const;
  Packing quantizedBias(const QuantizedChain& chain, const std::vector<ValueId>& biases, ValueId unit) const;

  // Codes that are only picked (lower_held_codes.cpp).
  void findHeldCodes();
  bool canHoldCodes(ValueId value, std::vector<ValueId>& held) const;
  Result<bool> passHeldCodes(const Node& node);
  CodeScale heldScale(const Node& quantize, const std::vector<ValueId>& held) const;
  std::optional<TapeProgram> rescaling(const CodeScale& from, const CodeScale& to) const;
  Result<Ref> rescaled(const Ref& codes, const CodeScale& from, const CodeScale& to, ValueId result);

  // Norms (lower_norm.cpp).
  Result<bool> lowerNorm(const Node& node);
  std::optional<NormPattern> boundNorm() const;
  bool takeEpsilon(NormPattern& pattern) const;
  bool takeExtents(NormPattern& pattern, bool grouped) const;
  bool takeRounding(NormPattern& pattern) const;
  Status emitNorm(const NormPattern& pattern);
  Status emitGroupNorm(const NormPattern& pattern, const Ref& from);

  // Chains (lower_chain.cpp). `taken`: how many of its nodes, from the first, became one primitive.
  void findMacros();
  Chain chainAfter(const Node& root) const;
  /// The nodes that the plan puts behind `root`: those bound as its parts, else all that follow from it.
  std::vector<NodeId> partsAfter(const Node& root) const;
  std::optional<Chain::Operation> operationOf(const Chain& chain, std::span<const NodeId> parts) const;
  bool isSwish(const Chain& chain, const Node& sigmoid, const Node& product) const;
  std::optional<Chain::Operation> batchNormOf(const Chain& chain, const Node& norm) const;
  std::optional<Chain::Operation> sumOf(const Chain& chain, const Node& sum) const;
  ValueId resultOf(const Chain& chain, std::size_t taken) const { return node(chain.nodes[taken - 1]).outputs[0]; }
  void leaveToTapes(const Chain& chain, std::size_t taken);  ///< the nodes after those
  Status lowerSeparately(const Chain& chain);                ///< where no primitive can run the root
  /// The nodes of `chain` from `first` on, of those that were taken.
  EpilogueTape epilogueTape(const Chain& chain, std::size_t first, std::size_t taken) const;

  // Convolutions (lower_conv.cpp).
  Status lowerConv(const Chain& chain);
  Status lowerUpsampling(const Chain& chain, PreparedConv conv);
  bool canConvolve(const Node& root) const;  ///< by a primitive
  PreparedConv prepareConv(const Node& root) const;
  /// The narrow float that oneDNN is to multiply the operands of `root` in; f32 where they are to be widened.
  DataType multiplies(const Node& root) const;
  bool isNarrowWeight(ValueId value, DataType type) const;
  DataType residualType(const PreparedConv& conv, ValueId value) const;
  enum class Sigmoids { Folded, LeftToTapes };
  /// With what follows, as far as it can be taken into the filters or as post-operations.
  PreparedConv foldedConv(const Chain& chain, Sigmoids sigmoids) const;
  bool fold(const Chain::Operation& operation, PreparedConv& conv) const;  ///< whether it took it
  DescribedConv describeConv(const PreparedConv& conv) const;
  Status emitConv(const Chain& chain, const PreparedConv& conv, const DescribedConv& described);

  // Matrix products (lower_matmul.cpp).
  Status lowerMatMul(const Chain& chain);
  bool canMultiply(const Node& root) const;  ///< by a primitive or our own kernel
  Result<PreparedMatMul> prepareMatMul(const Node& root, DataType type, bool own);
  /// An operand of a product that is multiplied in `type`.
  Result<Ref> factor(ValueId value, DataType type);
  Status addGemmTerms(const Node& gemm, PreparedMatMul& product);
  /// As for convolutions; our own kernel takes biases only.
  Result<std::size_t> foldChain(const Chain& chain, PreparedMatMul& product, bool own);
  Status emitMatMul(const Chain& chain, const PreparedMatMul& product, std::size_t taken, const Ref& target);
  Status emitOwnMatMuls(std::vector<OwnMatMul> products);
  bool isOwnMatMul(const Node& root) const;
  std::int64_t rowsOf(const Node& product) const;
  bool isPerColumn(ValueId value, std::int64_t n) const;
  std::optional<CodeMatrix> codeMatrix(const Node& root) const;
  std::optional<ValueId> transposedConstant(ValueId value) const;
  std::vector<Chain> parallelProducts() const;
  Status lowerParallelProducts(const std::vector<Chain>& chains);

  // Attention (lower_attention.cpp).
  class AttentionReader;
  std::optional<AttentionPattern> boundAttention();
  void foldNumbers();
  Status lowerAttention(const AttentionPattern& pattern);
  Result<AttentionViews> attentionViews(const AttentionPattern& pattern);
  /// The same at other extents; nothing if an operand is calculated inside.
  std::optional<AttentionAt> attentionAt(const AttentionPattern& pattern) const;
  // ONNX's Attention as one node (lower_attention_node.cpp).
  bool canLowerAttention(const Node& node) const;
  Result<bool> lowerAttentionNode(const Node& node);
  Result<Ref> withPast(const Node& node, std::size_t input, std::int64_t heads);
  /// Like allocate(), but through the strides of a transposition that is all that follows (the last axis stays).
  Result<View> allocateTransposed(ValueId value);

  const KernelRequest& m_request;
  const Graph& m_graph;
  const FusedNode& m_fused;
  const DataType m_kept;
  Rounding m_rounding;
  NodeId m_reader;  ///< the node that is lowered or looked at
  LoweringOptions m_options;
  int m_threads;
  ProgramBuilder m_program;
  std::map<ValueId, std::size_t> m_outputIndex;
  std::set<NodeId> m_members;
  RegionExtents m_extents;
  std::map<ValueId, ExtentsOf> m_places;  ///< in m_extents
  std::map<ValueId, Ref> m_refs;
  std::map<ValueId, View> m_views;  ///< of values that nodes only look at; in m_refs once somebody asks for one
  std::map<ValueId, ViewOrigin> m_origins;
  std::map<std::pair<ValueId, DataType>, Ref> m_constantRefs, m_roundedRefs;  ///< by what they are rounded to
  std::map<std::pair<ValueId, DataType>, Ref> m_narrowConstants;
  std::map<ValueId, Ref> m_wideRefs;        ///< of what lies in memory as a narrow float
  std::map<BufferIndex, Ref> m_wholes;      ///< all of a buffer of narrow floats
  std::map<BufferIndex, Ref> m_wideWholes;  ///< the same as f32
  std::map<ValueId, Weight> m_folded;
  std::map<ValueId, std::size_t> m_slots;  ///< of constants
  /// Of m_folded and of what is rounded (to that type), as far as the code holds them.
  mutable std::map<std::pair<ValueId, DataType>, Tensor> m_numbers;
  mutable std::set<std::size_t> m_embedded;      ///< slots whose numbers the code holds
  std::set<BufferIndex> m_claimed;               ///< output buffers that hold a value before the output itself
  std::vector<NodeId> m_pending;                 ///< pointwise nodes not emitted yet
  std::map<NodeId, Chain> m_chains;              ///< by their last node
  std::map<NodeId, QuantizedChain> m_quantized;  ///< by their last node
  std::map<NodeId, ScaledSums> m_sums;           ///< of roots that a tape is to scale
  std::size_t m_integerRoots = 0;
  std::map<ValueId, CodeScale> m_heldCodes;   ///< floats of the network that stand in memory as codes
  std::map<ValueId, CodeTable> m_heldTables;  ///< of these what a Concat translates as it copies them
  std::optional<AttentionPattern> m_attention;
  std::optional<NormPattern> m_norm;
  std::vector<Chain> m_parallel;  ///< products of one value that one step runs
  std::set<NodeId> m_absorbed;    ///< in a macro, and not its last node
  std::vector<std::string> m_implementations;
  std::optional<ConvFormats> m_convFormats;
  bool m_multipliesNarrow = false;
};

}  // namespace fusescope::native
