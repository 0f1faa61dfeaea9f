// Regions of a compiler's kernels bound to the nodes that lie between their tensors.
#include "compilers/probed/slices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/compilers/file_graphs.h"

namespace fusescope {
namespace {

using onnxlib::FileGraph;
using testing::fileGraph;
using NameList = std::vector<std::string>;

struct NamedRegion {
  NameList inputs, outputs;
};

/// A network, what a compiler told of it, and what slicing makes of that, by names.
struct SliceCase {
  SliceCase(FileGraph file, const NameList& kept, const NameList& constant, const std::vector<NamedRegion>& named)
      : graph(std::move(file)), network(graph) {
    RevealedTensors told(network);
    for (const std::string& name : kept) told.kept[network.findTensor(name)] = true;
    for (const std::string& name : constant) told.constant[network.findTensor(name)] = true;
    std::vector<SliceRegion> regions;
    for (const NamedRegion& region : named) {
      SliceRegion& added = regions.emplace_back();
      for (const std::string& name : region.inputs) added.inputs.push_back(network.findTensor(name));
      for (const std::string& name : region.outputs) added.outputs.push_back(network.findTensor(name));
    }
    slices = sliceNetwork(network, equalTensors(network), told, regions);
  }

  NameList cover(std::size_t region) const {
    NameList names;
    for (const std::uint32_t node : slices.covers[region].nodes) names.push_back(graph.nodes[node].name);
    return names;
  }
  Fate fate(std::string_view node) const { return slices.fates[network.findNode(node)]; }

  FileGraph graph;
  TensorGraph network;
  Slices slices;
};

TEST(Slices, NodesBetweenTensorsThatAreToldBelongToTheRegion) {
  const SliceCase c(fileGraph({"in x", "const w", "const b", "MatMul product x w -> p", "Add sum p b -> s",
                               "Relu relu s -> r", "Exp exp r -> e", "out e"}),
                    {"x", "r", "e"}, {}, {{{"x"}, {"r"}}, {{"r"}, {"e"}}});
  EXPECT_EQ(c.cover(0), (NameList{"product", "sum", "relu"}));
  EXPECT_EQ(c.cover(1), (NameList{"exp"}));
  EXPECT_TRUE(c.slices.covers[0].isClosed && c.slices.covers[1].isClosed);
}

TEST(Slices, ARegionThatReadsWhatIsNotToldIsNotClosed) {
  const SliceCase c(fileGraph({"in x", "in y", "Exp e x -> a", "Exp f y -> b", "Add sum a b -> s", "out s"}),
                    {"x", "a", "s"}, {}, {{{"a"}, {"s"}}});
  EXPECT_EQ(c.cover(0), (NameList{"f", "sum"}));
  EXPECT_FALSE(c.slices.covers[0].isClosed) << "y is no input of the region";
  EXPECT_EQ(c.fate("e"), Fate::NotDisclosed);
}

TEST(Slices, ATensorOfAnotherRegionEndsASlice) {
  const SliceCase c(fileGraph({"in x", "Exp e x -> a", "Neg n a -> b", "Add sum a b -> s", "out s"}),
                    {"x", "a", "b", "s"}, {}, {{{"b"}, {"s"}}});
  EXPECT_EQ(c.cover(0), (NameList{"sum"}));
  EXPECT_FALSE(c.slices.covers[0].isClosed);
}

TEST(Slices, CodesAreReadAsWhatTheyStandFor) {
  // The compiler reads the codes q where the network reads d.
  const SliceCase c(
      fileGraph({"in x", "const s", "QuantizeLinear quantize x s -> q", "DequantizeLinear dequantize q s -> d",
                 "Exp exp d -> e", "Neg neg d -> n", "out e", "out n"}),
      {"x", "q", "d", "e", "n"}, {}, {{{"q"}, {"e"}}, {{"d"}, {"n"}}, {{"q"}, {"d"}}});
  EXPECT_EQ(c.cover(0), (NameList{"dequantize", "exp"}));
  EXPECT_TRUE(c.slices.covers[0].isClosed);
  EXPECT_EQ(c.cover(1), (NameList{"neg"}));
  EXPECT_EQ(c.cover(2), (NameList{"dequantize"}));
}

TEST(Slices, AKernelThatChangesTheFormatHoldsNoNode) {
  const SliceCase c(fileGraph({"in x", "Exp e x -> a", "out a"}), {"x", "a"}, {}, {{{"x"}, {"x"}}, {{"x"}, {"a"}}});
  EXPECT_EQ(c.cover(0), NameList{});
  EXPECT_TRUE(c.slices.covers[0].isClosed);
  EXPECT_EQ(c.cover(1), NameList{"e"});
}

TEST(Slices, WhatIsCalculatedOverConstantsIsFolded) {
  const SliceCase c(
      fileGraph({"in x", "const w", "const k", "Transpose turn w -> t", "Shape shape x -> h", "Cast cast h -> i",
                 "Mul scale i k -> j", "MatMul product x t -> p", "Reshape reshape p j -> r", "out r"}),
      {"x", "r"}, {"j"}, {{{"x"}, {"r"}}});
  EXPECT_EQ(c.fate("turn"), Fate::Folded);
  EXPECT_EQ(c.fate("scale"), Fate::Folded) << "the compiler holds it as a constant";
  EXPECT_EQ(c.fate("cast"), Fate::Folded) << "only a folded node reads it";
  EXPECT_EQ(c.fate("shape"), Fate::Folded);
  EXPECT_EQ(c.cover(0), (NameList{"product", "reshape"}));
}

TEST(Slices, ANodeWhoseExtentsAloneAreReadIsNotCalculatedAtAll) {
  const SliceCase c(fileGraph({"in x", "const k", "Relu relu x -> r", "Shape shape r -> h", "Mul scale h k -> j",
                               "Reshape reshape x j -> y", "out y"}),
                    {"x", "y"}, {"j"}, {{{"x"}, {"y"}}});
  EXPECT_EQ(c.fate("relu"), Fate::Removed) << "nobody can calculate it without x";
  EXPECT_EQ(c.fate("shape"), Fate::Folded);
}

TEST(Slices, AConstantThatTheCompilerCalculatesIsNotFolded) {
  const SliceCase c(
      fileGraph({"in x", "const w", "const s", "DequantizeLinear widen w s -> d", "MatMul product x d -> p", "out p"}),
      {"x", "d", "p"}, {}, {{{}, {"d"}}, {{"x", "d"}, {"p"}}});
  EXPECT_EQ(c.cover(0), NameList{"widen"});
  EXPECT_EQ(c.cover(1), NameList{"product"});
  EXPECT_TRUE(c.slices.covers[0].isClosed);
}

TEST(Slices, EqualNodesAreMergedIntoTheOneThatWasKept) {
  const SliceCase c(
      fileGraph({"in x", "Exp same x -> a", "Exp same2 x -> b", "Neg neg a -> n", "Abs abs b -> m", "out n", "out m"}),
      {"x", "b", "n", "m"}, {}, {{{"x"}, {"b"}}, {{"b"}, {"n"}}, {{"b"}, {"m"}}});
  EXPECT_EQ(c.fate("same"), Fate::Merged);
  EXPECT_EQ(c.cover(0), NameList{"same2"});
  EXPECT_EQ(c.cover(1), NameList{"neg"});
  EXPECT_TRUE(c.slices.covers[1].isClosed);
}

TEST(Slices, EqualNodesThatAreBothCalculatedKeepTheirKernels) {
  const SliceCase c(fileGraph({"in x", "Exp same x -> a", "Exp same2 x -> b", "Add sum a b -> s", "out s"}),
                    {"x", "a", "b", "s"}, {}, {{{"x"}, {"a"}}, {{"x"}, {"b"}}, {{"a", "b"}, {"s"}}});
  EXPECT_EQ(c.cover(0), NameList{"same"});
  EXPECT_EQ(c.cover(1), NameList{"same2"});
  EXPECT_EQ(c.cover(2), NameList{"sum"});
}

TEST(Slices, WhatFollowsMergedNodesIsMergedToo) {
  const SliceCase c(fileGraph({"in x", "const w", "Exp a1 x -> a", "Add b1 a w -> b", "Exp a2 x -> c",
                               "Add b2 c w -> d", "Sub sub b d -> s", "out s"}),
                    {"x", "b", "s"}, {}, {{{"x"}, {"b"}}, {{"b"}, {"s"}}});
  EXPECT_EQ(c.cover(0), (NameList{"a1", "b1"}));
  EXPECT_EQ(c.cover(1), NameList{"sub"});
  EXPECT_EQ(c.fate("a2"), Fate::Merged);
  EXPECT_EQ(c.fate("b2"), Fate::Merged);
}

TEST(Slices, RandomNodesAreEqualToNone) {
  const SliceCase c(
      fileGraph({"in x", "RandomNormalLike a x -> a", "RandomNormalLike b x -> b", "Add sum a b -> s", "out s"}),
      {"x", "a", "b", "s"}, {}, {{{"x"}, {"a"}}, {{"x"}, {"b"}}, {{"a", "b"}, {"s"}}});
  EXPECT_NE(equalTensors(c.network)[c.network.findTensor("a")], equalTensors(c.network)[c.network.findTensor("b")]);
}

TEST(Slices, AnIdentityIsRemovedUnlessAKernelCopies) {
  const FileGraph file = fileGraph({"in x", "Exp exp x -> a", "Identity copy a -> b", "out b"});
  const SliceCase gone(file, {"x", "b"}, {}, {{{"x"}, {"b"}}});
  EXPECT_EQ(gone.cover(0), NameList{"exp"});
  EXPECT_EQ(gone.fate("copy"), Fate::Removed);
  const SliceCase kept(file, {"x", "a", "b"}, {}, {{{"x"}, {"a"}}, {{"a"}, {"b"}}});
  EXPECT_EQ(kept.cover(1), NameList{"copy"});
}

TEST(Slices, WhatNobodyNeedsIsRemoved) {
  const SliceCase c(fileGraph({"in x", "Exp exp x -> a", "Neg dead x -> d", "Abs deader d -> e", "out a"}), {"x", "a"},
                    {}, {{{"x"}, {"a"}}});
  EXPECT_EQ(c.fate("dead"), Fate::Removed);
  EXPECT_EQ(c.fate("deader"), Fate::Removed);
  EXPECT_EQ(c.fate("exp"), Fate::Kernel);
}

TEST(Slices, ANodeReadsWhatItsBodiesCapture) {
  FileGraph file = fileGraph({"in x", "in flag", "Exp exp x -> a", "If choose flag -> y", "out y"});
  auto body = std::make_shared<FileGraph>(fileGraph({"Neg inner a -> b", "out b"}));
  file.nodes[1].attributes.push_back({.name = "then_branch", .reference = {}, .value = std::move(body)});
  const SliceCase c(std::move(file), {"x", "flag", "a", "y"}, {}, {{{"flag", "a"}, {"y"}}, {{"x"}, {"a"}}});
  EXPECT_EQ(c.cover(0), NameList{"choose"});
  EXPECT_TRUE(c.slices.covers[0].isClosed);
  EXPECT_EQ(c.fate("exp"), Fate::Kernel) << "only the body reads it";
}

TEST(Slices, CyclesAndTensorsOfNobodyAreTaken) {
  const SliceCase c(fileGraph({"in x", "Add a x c -> b", "Exp b b -> c", "Neg n nobody -> m", "out c", "out m"}),
                    {"x", "c", "m"}, {}, {{{"x"}, {"c"}}, {{}, {"m"}}, {{"m"}, {"c"}}});
  EXPECT_FALSE(c.slices.covers[1].isClosed);
  EXPECT_EQ(c.slices.fates.size(), 3U);
}

TEST(Slices, WorkIsLimited) {
  // A chain of which nothing is told, that every region would calculate again.
  std::vector<std::string> lines{"in x"};
  std::vector<NamedRegion> regions;
  NameList kept;
  for (int i = 0; i < 3000; ++i) {
    const std::string n = std::to_string(i);
    lines.push_back("Exp e" + n + " " + (i == 0 ? "x" : "t" + std::to_string(i - 1)) + " -> t" + n);
    lines.push_back("Neg n" + n + " t" + n + " -> u" + n);
    lines.push_back("out u" + n);
    kept.push_back("u" + n);
    regions.push_back({{}, {"u" + n}});
  }
  const SliceCase c(fileGraph(lines), kept, {}, regions);
  EXPECT_FALSE(c.slices.covers.back().isClosed);
  EXPECT_TRUE(c.slices.covers.back().nodes.empty());
}

}  // namespace
}  // namespace fusescope
