// Networks that differ in one thing are never taken for each other: neither by what their kernels are found by, nor by
// the fingerprint under which answers of other compilers are kept.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "backends/backend.h"
#include "base/sanitizers.h"
#include "compilers/probed/compiler_input.h"
#include "engine/kernel_requests.h"
#include "engine/kernel_store.h"
#include "ir/graph.h"
#include "onnxlib/onnx_text.h"
#include "probe/sha256.h"
#include "session/artifact.h"
#include "session/open_model.h"
#include "session/random_inputs.h"
#include "tests/support/paths.h"
#include "verify/compare_tensors.h"

namespace fusescope::test {
namespace {

constexpr int kMutantsOfEach = 16;

/// How many networks have mutants. FUSESCOPE_MUTANTS asks for so many mutants; sanitizers take several times as long.
int bases() {
  if (const char* asked = std::getenv("FUSESCOPE_MUTANTS"); asked != nullptr)
    return std::max(1, std::atoi(asked) / kMutantsOfEach);
  return FUSESCOPE_ADDRESS_SANITIZER + FUSESCOPE_THREAD_SANITIZER > 0 ? 40 : 160;
}

/// A node of a random network: its text with one place for each number and word that a mutant may change.
struct MutantNode {
  std::string op;
  std::vector<int> inputs;  ///< values before it, by number; negative: the constant of the node
  std::map<std::string, std::string> attributes;
  std::vector<float> constant;  ///< of the node, of the type and extents of the values
  bool operator==(const MutantNode&) const = default;
};

/// A chain and more of nodes over values of one shape.
struct MutantNetwork {
  std::vector<std::int64_t> dims{2, 3, 4};
  std::string type = "float";
  std::vector<MutantNode> nodes;
  std::string option;  ///< of the compiler
  bool operator==(const MutantNetwork&) const = default;

  std::string shape() const { return fmt::format("{}[{}]", type, fmt::join(dims, ", ")); }
  std::string text() const {
    std::string constants, body;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const MutantNode& node = nodes[i];
      if (!node.constant.empty())
        constants +=
            fmt::format("{}{} w{} = {{{}}}", constants.empty() ? "" : ", ", shape(), i, fmt::join(node.constant, ", "));
      std::vector<std::string> read, written;
      for (const int input : node.inputs)
        read.push_back(input < 0    ? fmt::format("w{}", i)
                       : input == 0 ? "x"
                       : input == 1 ? "y"
                                    : fmt::format("v{}", input - 2));
      for (const auto& [name, value] : node.attributes) written.push_back(name + " = " + value);
      body += fmt::format("  [n{}] {} = {} {} ({})\n", i,
                          i + 1 == nodes.size() ? std::string("z") : fmt::format("v{}", i), node.op,
                          written.empty() ? "" : fmt::format("<{}>", fmt::join(written, ", ")), fmt::join(read, ", "));
    }
    return fmt::format("<ir_version: 10, opset_import: [\"\" : 20]>\nnet ({0} x, {0} y) => ({0} z) {1} {{\n{2}}}",
                       shape(), constants.empty() ? "" : "<" + constants + ">", body);
  }
  std::size_t elements() const {
    std::size_t count = 1;
    for (const std::int64_t extent : dims) count *= static_cast<std::size_t>(extent);
    return count;
  }
};

class MutantMaker {
 public:
  explicit MutantMaker(std::uint32_t seed) : m_random(seed) {}

  MutantNetwork base() {
    MutantNetwork network;
    for (std::int64_t& extent : network.dims) extent = 2 + pick(4);
    const int count = 3 + pick(5);
    for (int i = 0; i < count; ++i) network.nodes.push_back(node(i, network.elements()));
    network.nodes.back().inputs[0] = count > 1 ? count : 0;  // the one before it
    return network;
  }

  /// What was changed; the network is another text.
  std::string mutate(MutantNetwork& network) {
    const MutantNetwork before = network;
    for (;;) {
      network = before;
      MutantNode& node = network.nodes[static_cast<std::size_t>(pick(static_cast<int>(network.nodes.size())))];
      const int place = static_cast<int>(&node - network.nodes.data());
      std::string kind;
      switch (pick(8)) {
        case 0:
          kind = attribute(node);
          break;
        case 1:
          kind = constant(node);
          break;
        case 2:
          kind = "operator";
          node.op = otherOf(node.op);
          break;
        case 3:
          kind = "wiring";
          node.inputs[static_cast<std::size_t>(pick(static_cast<int>(node.inputs.size())))] = pick(place + 2);
          break;
        case 4:
          kind = "order of operands";
          if (node.inputs.size() == 2) std::swap(node.inputs[0], node.inputs[1]);
          break;
        case 5:
          kind = "type";
          network.type = network.type == "float" ? "double" : "float";
          break;
        case 6:
          kind = "extent";
          stretch(network);
          break;
        case 7:
          kind = "option";
          network.option = fmt::format("level {}", pick(4));
          break;
      }
      if (!kind.empty() && !(network == before)) return kind;
    }
  }

 private:
  int pick(int count) { return static_cast<int>(m_random() % static_cast<unsigned>(count)); }

  MutantNode node(int place, std::size_t elements) {
    static const std::vector<std::string> kTwo{"Add", "Sub", "Mul", "Max", "Min"};
    static const std::vector<std::string> kOne{"Relu", "Neg", "Tanh", "Sigmoid", "Abs"};
    const auto read = [&] { return pick(place + 2); };
    switch (pick(7)) {
      case 0:
        return {"Softmax", {read()}, {{"axis", fmt::format("{}", pick(3))}}, {}};
      case 1:
        return {"LeakyRelu", {read()}, {{"alpha", fmt::format("0.{}", 1 + pick(8))}}, {}};
      case 2:
        return {"Gelu", {read()}, {{"approximate", pick(2) == 0 ? "\"none\"" : "\"tanh\""}}, {}};
      case 3: {
        MutantNode made{kTwo[static_cast<std::size_t>(pick(5))], {read(), -1}, {}, {}};
        for (std::size_t i = 0; i < elements; ++i) made.constant.push_back(static_cast<float>(pick(64)) / 16 - 2);
        return made;
      }
      case 4:
        return {kOne[static_cast<std::size_t>(pick(5))], {read()}, {}, {}};
      default:
        return {kTwo[static_cast<std::size_t>(pick(5))], {read(), read()}, {}, {}};
    }
  }

  std::string attribute(MutantNode& node) {
    if (node.op == "Softmax") {
      node.attributes["axis"] = fmt::format("{}", pick(3));
      return "axis";
    }
    if (node.op == "LeakyRelu") node.attributes["alpha"] = fmt::format("0.{}", 1 + pick(8));
    if (node.op == "Gelu") node.attributes["approximate"] = pick(2) == 0 ? "\"none\"" : "\"tanh\"";
    return node.attributes.empty() ? "" : "attribute";
  }

  std::string constant(MutantNode& node) {
    if (node.constant.empty()) return "";
    node.constant[static_cast<std::size_t>(pick(static_cast<int>(node.constant.size())))] += 0.0625F;
    return "constant";
  }

  std::string otherOf(const std::string& op) {
    static const std::vector<std::vector<std::string>> kAlike{{"Add", "Sub", "Mul", "Max", "Min"},
                                                              {"Relu", "Neg", "Tanh", "Sigmoid", "Abs"}};
    for (const auto& list : kAlike)
      if (std::ranges::find(list, op) != list.end()) return list[static_cast<std::size_t>(pick(5))];
    return op;
  }

  /// One extent more; constants keep their first elements.
  void stretch(MutantNetwork& network) {
    ++network.dims[static_cast<std::size_t>(pick(3))];
    for (MutantNode& node : network.nodes)
      if (!node.constant.empty()) node.constant.resize(network.elements(), 0.5F);
  }

  std::mt19937 m_random;
};

/// A network as it is planned and found by.
struct Keyed {
  std::shared_ptr<const Plan> plan;
  std::multiset<std::string> regions;  ///< by what their code and their embedded constants are found
  std::string fingerprint;             ///< of the network that another compiler is handed, and its options
};

class Mutants : public ::testing::Test {
 protected:
  Keyed keyed(const MutantNetwork& network) const {
    const auto bytes = onnxlib::onnxTextToBytes(network.text());
    EXPECT_TRUE(bytes.ok()) << network.text() << bytes.error().text();
    const auto path = m_folder.write(fmt::format("network{}.onnx", m_written++), bytes.value());
    auto opened = openModel(path, {});
    EXPECT_TRUE(opened.ok()) << network.text() << (opened.ok() ? "" : opened.error().text());
    auto plan = makePlan(opened.value(), {.target = "cpu"}, nullptr, {});
    EXPECT_TRUE(plan.ok()) << network.text();
    Keyed keyed{.plan = plan.value(), .regions = {}, .fingerprint = {}};
    addRegions(keyed);
    const auto handed = makeCompilerInput(keyed.plan, CompilerInputTypes::AsInFile, {});
    EXPECT_TRUE(handed.ok());
    std::string files;
    for (const auto& [name, file] : filesOf(handed.value())) files += name + sha256OfFile(file, {}).value();
    keyed.fingerprint = files + network.option;
    return keyed;
  }

  static void addRegions(Keyed& keyed) {
    const Backend& backend = *findBackend("native");
    const auto requests = KernelRequests::create(*keyed.plan, {}, 1);
    ASSERT_TRUE(requests.ok()) << requests.error().text();
    KernelStore kernels;
    for (const FusedNode& fused : keyed.plan->fusedNodes) {
      const auto request = requests.value().of(fused);
      if (!request.ok()) continue;
      const auto tactics = backend.tactics(request.value());
      ASSERT_FALSE(tactics.empty());
      std::string key = codeKey(backend, request.value(), tactics.front());
      const auto code = kernels.code(backend, request.value(), tactics.front());
      ASSERT_TRUE(code.ok()) << code.error().text();
      for (const std::size_t slot : code.value()->embedded()) {
        const Tensor& constant = request.value().constants.at(request.value().weightSlots[slot]);
        key += hashBytes({constant.bytes(), constant.byteSize()}).hex();
      }
      keyed.regions.insert(std::move(key));
    }
  }

  /// Whether `plan`, run by kernels of a store that has those of `before`, gives what it gives by kernels of its own.
  static bool isRightBehind(const std::shared_ptr<const Plan>& before, const std::shared_ptr<const Plan>& plan) {
    KernelStore kernels, own;
    const BuildOptions options{.threads = 1, .measureTactics = false, .kernels = &kernels};
    const auto former = buildEngine(before, options);
    const auto engine = buildEngine(plan, options);
    const auto alone = buildEngine(plan, {.threads = 1, .measureTactics = false, .kernels = &own});
    for (const auto* made : {&former, &engine, &alone}) {
      EXPECT_TRUE(made->ok()) << made->error().text();
      if (!made->ok()) return false;
    }
    const auto inputs = randomInputs(*plan);
    const auto actual = engine.value()->run(inputs), expected = alone.value()->run(inputs);
    EXPECT_TRUE(actual.ok() && expected.ok());
    return std::ranges::all_of(compareAll(actual.value().outputs, expected.value().outputs, {.rms = 1e-12}),
                               &TensorComparison::ok);
  }

  const TemporaryFolder m_folder;
  mutable int m_written = 0;  ///< networks: a file is not written again while somebody has it
};

struct KindCount {
  int mutants = 0, sameRegions = 0, sameFingerprints = 0, wrong = 0;
};

TEST_F(Mutants, AreNeverServedWhatIsOfAnother) {
  MutantMaker maker(20261127);
  std::map<std::string, KindCount> counts;
  std::map<std::string, Hash128> seen;  // by its fingerprint, every network that there was
  const auto isAnothers = [&](const std::string& fingerprint, const MutantNetwork& network) {
    const Hash128 text = hashText(network.text() + network.option);
    return seen.emplace(fingerprint, text).first->second != text;
  };
  int all = 0;
  for (int i = 0; i < bases(); ++i) {
    const MutantNetwork base = maker.base();
    const Keyed of = keyed(base);
    EXPECT_FALSE(isAnothers(of.fingerprint, base)) << base.text();
    for (int j = 0; j < kMutantsOfEach; ++j) {
      MutantNetwork mutant = base;
      KindCount& count = counts[maker.mutate(mutant)];
      const Keyed other = keyed(mutant);
      ++count.mutants;
      ++all;
      if (other.fingerprint == of.fingerprint || isAnothers(other.fingerprint, mutant)) ++count.sameFingerprints;
      if (other.regions != of.regions && all % 40 != 0) continue;
      count.sameRegions += other.regions == of.regions ? 1 : 0;
      if (mutant.option != base.option) continue;  // of another compiler: our own kernels are those of one network
      if (isRightBehind(of.plan, other.plan)) continue;
      ++count.wrong;
      ADD_FAILURE() << "served what is of another:\n" << base.text() << "\n" << mutant.text();
    }
  }
  std::cout << fmt::format("{} mutants of {} networks\n{:<20} {:>8} {:>20} {:>6} {:>20}\n", all, bases(), "changed",
                           "mutants", "same kernels asked", "wrong", "same fingerprint");
  for (const auto& [kind, count] : counts) {
    std::cout << fmt::format("{:<20} {:>8} {:>20} {:>6} {:>20}\n", kind, count.mutants, count.sameRegions, count.wrong,
                             count.sameFingerprints);
    EXPECT_EQ(count.sameFingerprints, 0) << kind;
    EXPECT_GT(count.mutants, bases() / 4) << kind;
  }
  EXPECT_EQ(all, bases() * kMutantsOfEach);
}

MutantNetwork oneNode(MutantNode node) {
  MutantNetwork network;
  network.nodes = {std::move(node)};
  return network;
}

/// Collisions of other tools' caches, as they were published.
TEST_F(Mutants, PublishedCollisionsAreNone) {
  const auto expectApart = [&](const MutantNode& a, const MutantNode& b, bool sameKernel = false) {
    const Keyed one = keyed(oneNode(a)), other = keyed(oneNode(b));
    if (!sameKernel) {
      EXPECT_NE(one.regions, other.regions) << oneNode(b).text();
    }
    EXPECT_NE(one.fingerprint, other.fingerprint) << oneNode(b).text();
    EXPECT_TRUE(isRightBehind(one.plan, other.plan)) << oneNode(b).text();
  };
  expectApart({"Softmax", {0}, {{"axis", "1"}}, {}}, {"Softmax", {0}, {{"axis", "2"}}, {}});
  // One kernel subtracts its second operand from its first; which value is which stands in the program.
  expectApart({"Sub", {0, 1}, {}, {}}, {"Sub", {1, 0}, {}, {}}, true);
  expectApart({"Add", {0, 1}, {}, {}}, {"Sub", {0, 1}, {}, {}});
  expectApart({"Gelu", {0}, {{"approximate", "\"none\""}}, {}}, {"Gelu", {0}, {{"approximate", "\"tanh\""}}, {}});
}

/// A name is no part of a network, so that the same one under other names is found again.
TEST_F(Mutants, NamesDoNotMatter) {
  const MutantNetwork network = MutantMaker(7).base();
  std::string renamed = network.text();
  for (std::size_t at = renamed.find("[n"); at != std::string::npos; at = renamed.find("[n", at + 1))
    renamed.replace(at, 2, "[other");
  const auto bytes = onnxlib::onnxTextToBytes(renamed);
  ASSERT_TRUE(bytes.ok());
  const auto model = openModel(m_folder.write("renamed.onnx", bytes.value()), {});
  ASSERT_TRUE(model.ok());
  const auto plan = makePlan(model.value(), {.target = "cpu"}, nullptr, {});
  ASSERT_TRUE(plan.ok());
  const auto handed = makeCompilerInput(plan.value(), CompilerInputTypes::AsInFile, {});
  ASSERT_TRUE(handed.ok());
  std::string files;
  for (const auto& [name, file] : filesOf(handed.value())) files += name + sha256OfFile(file, {}).value();
  EXPECT_EQ(files, keyed(network).fingerprint);
}

}  // namespace
}  // namespace fusescope::test
