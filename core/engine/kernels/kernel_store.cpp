#include "engine/kernels/kernel_store.h"

#include <algorithm>
#include <chrono>

#include "backends/finite_constants.h"
#include "base/elapsed.h"
#include "base/hash.h"
#include "engine/kernels/code_artifact.h"
#include "engine/kernels/region_key.h"
#include "ir/graph.h"
#include "planning/types/read_type.h"

namespace fusescope {
namespace {

constexpr std::size_t kLeastPruned = 256;
constexpr std::size_t kMostEmbeddedBytes = 4096;  // of constants whose numbers code may hold

/// Numbers the values of a region in the order in which its nodes name them.
class LocalNumbers {
 public:
  explicit LocalNumbers(const KernelRequest& request) {
    for (const NodeId id : request.fused->nodes) {
      const Node& node = request.plan->graph().node(id);
      for (const ValueId value : operands(node)) add(value);
      for (const ValueId value : node.outputs) add(value);
    }
  }
  std::int64_t of(ValueId value) const {
    const auto found = m_numbers.find(value);
    return found == m_numbers.end() ? -1 : found->second;
  }

 private:
  void add(ValueId value) {
    if (value.valid()) m_numbers.emplace(value, static_cast<std::int64_t>(m_numbers.size()));
  }
  std::map<ValueId, std::int64_t> m_numbers;
};

void addTruncated(KeyBuilder& key, const std::vector<TruncatedValue>& values, const LocalNumbers& numbers) {
  for (const TruncatedValue& value : values)
    if (const std::int64_t number = numbers.of(value.value); number >= 0) key.number(number).text(name(value.to));
  key.text("end");
}

NodeNames namesOf(const KernelRequest& request) {
  NodeNames names;
  for (const NodeId id : request.fused->nodes) names.push_back(request.plan->graph().node(id).name);
  return names;
}

std::vector<Tensor> tensorsAt(std::span<const std::size_t> weightSlots, std::span<const Tensor> constants) {
  std::vector<Tensor> tensors;
  for (const std::size_t slot : weightSlots) tensors.push_back(constants[slot]);
  return tensors;
}

/// Returns the hash of the types, extents and present elements of the tensors; a mapped file may have other contents
/// later.
Hash128 contentHash(std::span<const Tensor> tensors) {
  KeyBuilder key;
  for (const Tensor& tensor : tensors) {
    key.text(name(tensor.type())).number(tensor.dims().size());
    for (const std::int64_t extent : tensor.dims()) key.number(extent);
    if (tensor.type() == DataType::String) {
      for (const std::string& element : tensor.strings()) key.text(element);
      continue;
    }
    const Hash128 hash = hashBytes({tensor.bytes(), tensor.byteSize()});
    key.number(hash.high).number(hash.low);
  }
  return key.hash();
}

const MappedFile* fileOf(const Tensor& tensor, const MappedFiles& files) {
  for (const auto& file : files)
    if (file->holds(tensor.bytes())) return file.get();
  return nullptr;
}

/// Memory of tensors that were hashed and packed is no longer needed. Tensors that kernels read in place are read from
/// the file again while the engine runs, as far as they are needed.
void releasePages(std::span<const Tensor> sources, const MappedFiles& files) {
  for (const Tensor& source : sources)
    if (const MappedFile* file = fileOf(source, files)) file->release({source.bytes(), source.byteSize()});
}

/// Returns the tensors with elements that can be read in place. Copies of those that cannot are kept as long as the
/// packed weights need them.
std::vector<Tensor> readable(std::span<const Tensor> sources) {
  std::vector<Tensor> aligned;
  for (const Tensor& source : sources) aligned.push_back(source.aligned());
  return aligned;
}

/// Returns a copy of the tensor in the memory of a device.
Result<Tensor> onDevice(const Device& device, const Tensor& tensor) {
  const auto memory = std::make_shared<DeviceMemory>(device, tensor.byteSize());
  const auto stream = device.makeStream();
  stream->copy(CopyDirection::ToDevice, tensor.bytes(), memory->data(), tensor.byteSize());
  if (auto failure = stream->synchronise()) return std::move(failure->error);
  return Tensor::view(tensor.type(), tensor.dims(), memory, memory->data());
}

std::string conversionKey(const Backend& backend, const TensorDesc& from, const TensorDesc& to, int threads) {
  KeyBuilder key;
  key.text(backend.name()).number(threads);
  for (const TensorDesc* desc : {&from, &to}) {
    key.text(name(desc->dtype)).text(desc->format.text()).number(desc->dims.size());
    for (const std::int64_t extent : desc->dims) key.number(extent);
  }
  return key.canonical();
}

/// All that the code of a region depends on but its tactic.
void addRequest(KeyBuilder& key, const Backend& backend, const KernelRequest& request, const std::string& region) {
  const FusedNode& fused = *request.fused;
  const Plan& plan = *request.plan;
  const LocalNumbers numbers(request);
  key.text(backend.name()).text(region).number(request.threads);
  for (const ValueId input : fused.inputs) key.number(numbers.of(input));
  for (const FusedOutput& output : fused.outputs) key.number(numbers.of(output.value)).text(name(output.type));
  for (const InnerEdge& edge : fused.innerEdges) key.number(numbers.of(edge.value));
  const auto placeOf = [&](NodeId id) { return std::ranges::find(fused.nodes, id) - fused.nodes.begin(); };
  for (const Binding& binding : fused.bindings)
    key.text(binding.role).number(numbers.of(binding.value)).number(placeOf(binding.node));
  key.number(placeOf(fused.root)).number(plan.inFallback(fused));
  for (const NodeId id : fused.nodes) key.number(plan.readsMemory(id)).number(movesElements(plan, id));
  addTruncated(key, plan.truncation.constants, numbers);
  addTruncated(key, plan.truncation.produced, numbers);
  for (std::size_t slot = 0; slot < request.weightSlots.size(); ++slot)
    if (mayBeNotFinite(request.constants.at(request.weightSlots[slot]))) key.text("not finite").number(slot);
}

/// What is needed to pack a weight. It keeps its sources as long as the weight exists, so that nothing else comes to
/// lie at their addresses.
struct PackingJob {
  Packing packing;
  const Device& device;
  std::vector<Tensor> sources;
  MappedFiles files;
};

Status packThoseThatMayFail(const Code& code, std::span<const std::shared_ptr<const Packed>> weights) {
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (code.packings()[i].mayFail) TRY(weights[i]->pack());
  return Done{};
}

}  // namespace

std::string codeKey(const Backend& backend, const KernelRequest& request, const Tactic& tactic) {
  KeyBuilder key;
  addRequest(key, backend, request, regionKey(request));
  key.text(tactic.implementation).text(tactic.name);
  for (const auto* formats : {&tactic.inputs, &tactic.outputs}) {
    key.number(formats->size());
    for (const MemoryFormat& format : *formats) key.text(format.text());
  }
  return key.canonical();
}

std::string requestKey(const Backend& backend, const KernelRequest& request, const std::string& region) {
  KeyBuilder key;
  addRequest(key, backend, request, region);
  for (const ValueId input : request.fused->inputs)
    for (const std::int64_t extent : request.values.at(input).dims) key.number(extent);
  key.number(request.formats.size());
  for (const MemoryFormat& format : request.formats) key.text(format.text());
  for (std::size_t slot = 0; slot < request.weightSlots.size(); ++slot) {
    const Tensor& constant = request.constants.at(request.weightSlots[slot]);
    if (constant.type() != DataType::String && constant.byteSize() > kMostEmbeddedBytes) continue;
    const Hash128 content = contentHash(std::span(&constant, 1));
    key.number(slot).number(content.high).number(content.low);
  }
  return key.canonical();
}

/// Packs weights, and finds those again that were made of equal contents. Thread-safe.
class KernelStore::PackedContents {
 public:
  Result<std::shared_ptr<const Packed::Data>> pack(const PackingJob& job) {
    KeyBuilder content;
    const Hash128 hash = contentHash(job.sources);
    content.text(job.packing.form).text(job.device.name()).number(hash.high).number(hash.low);
    auto data = known(content.canonical());
    if (data == nullptr) {
      data = TRY(made(job));
      const std::lock_guard lock(m_mutex);
      ++m_packed;
      m_byContent[content.canonical()] = data;
    }
    releasePages(job.sources, job.files);
    return data;
  }
  void addTo(Counts& counts) const {
    const std::lock_guard lock(m_mutex);
    counts.packed += m_packed;
    counts.sharedWeights += m_shared;
  }
  /// Forgets weights that nobody has any more.
  void prune() {
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_byContent, [](const auto& entry) { return entry.second.expired(); });
  }

 private:
  std::shared_ptr<const Packed::Data> known(const std::string& content) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_byContent.find(content);
    auto data = found == m_byContent.end() ? nullptr : found->second.lock();
    if (data != nullptr) ++m_shared;
    return data;
  }
  static Result<std::shared_ptr<const Packed::Data>> made(const PackingJob& job) {
    auto made = std::make_shared<Packed::Data>();
    made->tensor = TRY(job.packing.pack(readable(job.sources)));
    if (!job.device.isHost()) {
      made->tensor = TRY(onDevice(job.device, made->tensor));
    } else if (const MappedFile* file = fileOf(made->tensor, job.files)) {
      made->inFile = true;
      file->adviseRandomAccess({made->tensor.bytes(), made->tensor.byteSize()});
    }
    return std::shared_ptr<const Packed::Data>(std::move(made));
  }

  mutable std::mutex m_mutex;
  std::map<std::string, std::weak_ptr<const Packed::Data>> m_byContent;  ///< and by form
  std::int64_t m_packed = 0, m_shared = 0;
};

KernelStore::KernelStore(std::shared_ptr<ArtifactStore> artifacts)
    : m_artifacts(std::move(artifacts)), m_packed(std::make_shared<PackedContents>()) {}

KernelStore& KernelStore::ofProcess() {
  static KernelStore store;
  return store;
}

KernelStore::Counts KernelStore::counts() const {
  const std::lock_guard lock(m_mutex);
  Counts counts = m_counts;
  m_packed->addTo(counts);
  return counts;
}

void KernelStore::prune() {
  const auto entries = [this] { return m_code.size() + m_packedAt.size() + m_conversions.size(); };
  const auto expired = [](const auto& entry) { return entry.second.expired(); };
  if (entries() < m_pruneAt) return;
  for (auto& [key, entries] : m_code)
    std::erase_if(entries, [](const CodeEntry& entry) { return entry.code.expired(); });
  std::erase_if(m_code, [](const auto& entry) { return entry.second.empty(); });
  std::erase_if(m_packedAt, expired);
  m_packed->prune();
  std::erase_if(m_conversions, expired);
  m_pruneAt = std::max(kLeastPruned, 2 * entries());
}

/// Restores the code from the artifact store, if it is there with equal constants; otherwise compiles it and stores it
/// there.
Result<KernelStore::CodeEntry> KernelStore::restoredOrCompiled(const Source& source,
                                                               std::shared_ptr<const Code>& code) {
  const Backend& backend = source.backend;
  KeyBuilder key;
  key.text("fusescope.code.1").text(source.key).text(backend.fingerprint().text());
  const auto embeddedIn = [&](const Code& made) { return contentHash(tensorsAt(made.embedded(), source.constants)); };
  if (const auto kept = m_artifacts->get(key.canonical()))
    if (const auto artifact = CodeArtifact::parse(*kept))
      if (auto restored = backend.restore(artifact->code); restored.ok()) {
        code = std::move(restored).value();
        const Hash128 embedded = embeddedIn(*code);
        if (embedded.hex() == artifact->embedded) {
          ++m_counts.restored;
          return CodeEntry{code, embedded, std::make_shared<const NodeNames>(artifact->names)};
        }
      }
  const auto start = std::chrono::steady_clock::now();
  code = TRY(source.compile());
  const double madeMs = msSince(start);
  ++m_counts.compiled;
  CodeEntry entry{code, embeddedIn(*code), std::make_shared<const NodeNames>(source.names)};
  if (auto bytes = code->serialise())
    m_artifacts->put(key.canonical(), CodeArtifact{entry.embedded.hex(), source.names, std::move(*bytes)}.text(),
                     madeMs);
  return entry;
}

/// Returns the entry of the code, and makes one if there is none. `code` keeps it alive.
Result<KernelStore::CodeEntry> KernelStore::compiled(const Source& source, std::shared_ptr<const Code>& code) {
  for (const CodeEntry& entry : m_code[source.key]) {
    code = entry.code.lock();
    if (code == nullptr || entry.embedded != contentHash(tensorsAt(code->embedded(), source.constants))) continue;
    ++m_counts.sharedCode;
    return entry;
  }
  const CodeEntry entry = TRY(restoredOrCompiled(source, code));
  prune();
  m_code[source.key].push_back(entry);
  return entry;
}

/// Returns the weight; it may not be packed yet.
std::shared_ptr<const Packed> KernelStore::packed(const Packing& packing, const Source& source) {
  PackingJob job{.packing = packing,
                 .device = source.backend.device(),
                 .sources = tensorsAt(packing.weightSlots, source.constants),
                 .files = source.files};
  KeyBuilder addresses;
  addresses.text(packing.form).text(job.device.name());
  for (const Tensor& tensor : job.sources)
    addresses.number(reinterpret_cast<std::uintptr_t>(tensor.bytes())).number(tensor.byteSize());
  if (auto known = m_packedAt[addresses.canonical()].lock()) {
    ++m_counts.sharedWeights;
    return known;
  }
  auto weight =
      std::make_shared<const Packed>([contents = m_packed, job = std::move(job)] { return contents->pack(job); });
  prune();
  m_packedAt[addresses.canonical()] = weight;
  return weight;
}

KernelStore::Source KernelStore::weightsOf(const Backend& backend, const KernelRequest& request) {
  Source source{.backend = backend, .files = request.plan->model->files};
  for (const ValueId slot : request.weightSlots) source.constants.push_back(request.constants.at(slot));
  return source;
}

KernelStore::Source KernelStore::sourceOf(const Backend& backend, const KernelRequest& request, const Tactic& tactic) {
  Source source = weightsOf(backend, request);
  source.key = codeKey(backend, request, tactic);
  source.names = namesOf(request);
  source.compile = [&backend, &request, &tactic] { return backend.compile(request, tactic); };
  return source;
}

Result<std::shared_ptr<const Code>> KernelStore::code(const Backend& backend, const KernelRequest& request,
                                                      const Tactic& tactic) {
  const std::lock_guard lock(m_mutex);
  std::shared_ptr<const Code> code;
  TRY(compiled(sourceOf(backend, request, tactic), code));
  return code;
}

Result<std::shared_ptr<const Kernel>> KernelStore::kernel(const Backend& backend, const KernelRequest& request,
                                                          const Tactic& tactic, bool* isCompiled) {
  const Source source = sourceOf(backend, request, tactic);
  std::unique_lock lock(m_mutex);
  const std::int64_t before = m_counts.compiled;
  std::shared_ptr<const Code> code;
  const CodeEntry entry = TRY(compiled(source, code));
  if (isCompiled != nullptr) *isCompiled = m_counts.compiled != before;
  auto weights = allPacked(*code, source);
  lock.unlock();
  TRY(packThoseThatMayFail(*code, weights));
  auto kernel = std::make_shared<Kernel>(std::move(code), std::move(weights));
  kernel->rename(entry.names,
                 source.names == *entry.names ? entry.names : std::make_shared<const NodeNames>(source.names));
  return std::shared_ptr<const Kernel>(std::move(kernel));
}

std::vector<std::shared_ptr<const Packed>> KernelStore::allPacked(const Code& code, const Source& source) {
  std::vector<std::shared_ptr<const Packed>> weights;
  for (const Packing& packing : code.packings()) weights.push_back(packed(packing, source));
  return weights;
}

Result<std::shared_ptr<const Kernel>> KernelStore::atOtherExtents(const Backend& backend, const KernelRequest& request,
                                                                  const RegionExtents& from, const RegionExtents& to,
                                                                  const Tactic& tactic, const Kernel& former) {
  if (auto same = former.code()->forExtents(from, to)) {
    const std::lock_guard lock(m_mutex);
    ++m_counts.otherExtents;
    return former.withCode(std::move(same), former.compiledNames());
  }
  std::shared_ptr<const Code> code = TRY(backend.compile(request, tactic));
  std::unique_lock lock(m_mutex);
  ++m_counts.compiled;
  if (auto kernel = former.withCode(code, former.names())) return kernel;
  auto weights = allPacked(*code, weightsOf(backend, request));
  lock.unlock();
  TRY(packThoseThatMayFail(*code, weights));
  auto kernel = std::make_shared<Kernel>(std::move(code), std::move(weights));
  kernel->rename(former.names(), former.names());
  return std::shared_ptr<const Kernel>(std::move(kernel));
}

Result<std::shared_ptr<const Kernel>> KernelStore::conversion(const Backend& backend, const TensorDesc& from,
                                                              const TensorDesc& to, int threads) {
  const std::string key = conversionKey(backend, from, to, threads);
  const std::lock_guard lock(m_mutex);
  std::shared_ptr<const Code> code = m_conversions[key].lock();
  if (code == nullptr) {
    code = TRY(backend.compileConversion(from, to, threads));
    prune();
    m_conversions[key] = code;
  }
  return std::make_shared<const Kernel>(std::move(code), std::vector<std::shared_ptr<const Packed>>());
}

}  // namespace fusescope
