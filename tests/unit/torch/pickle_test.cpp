#include "frontends/torch/pickle_reader.h"

#include <gtest/gtest.h>

#include "tests/support/pt2_files.h"

namespace fusescope::test {
namespace {

using torch::Pickle;
using torch::PickleValue;
using torch::readPickle;
using Kind = PickleValue::Kind;

Result<Pickle> read(const std::string& bytes) {
  return readPickle(std::as_bytes(std::span(bytes)));
}

std::string errorOf(const std::string& bytes) {
  const auto pickle = read(bytes);
  return pickle.ok() ? "it was read" : pickle.error().text();
}

TEST(Pickle, ContainersNumbersAndTextsAreRead) {
  const auto pickle = read(PickleWriter()
                               .raw("]")
                               .mark()
                               .integer(7)
                               .integer(-300)
                               .integer(70'000)
                               .integer(std::int64_t{1} << 40)
                               .number(0.25)
                               .text("grün")
                               .boolean(true)
                               .none()
                               .raw("e")
                               .bytes());
  ASSERT_TRUE(pickle.ok()) << pickle.error().text();
  const Pickle& read = pickle.value();
  ASSERT_EQ(read.top().kind, Kind::List);
  ASSERT_EQ(read.top().items.size(), 8U);
  const auto at = [&](std::size_t i) { return read.at(read.top().items[i]); };
  EXPECT_EQ(at(0).integer, 7);
  EXPECT_EQ(at(1).integer, -300);
  EXPECT_EQ(at(2).integer, 70'000);
  EXPECT_EQ(at(3).integer, std::int64_t{1} << 40);
  EXPECT_EQ(at(4).number, 0.25);
  EXPECT_EQ(at(5).text, "grün");
  EXPECT_TRUE(at(6).flag);
  EXPECT_EQ(at(7).kind, Kind::None);
}

TEST(Pickle, TensorsAndParametersAreRead) {
  for (const bool isParameter : {false, true}) {
    const auto pickle = read(PickleWriter()
                                 .tensor({.key = "4",
                                          .sizes = {2, 3},
                                          .strides = {1, 2},
                                          .offset = 5,
                                          .storage = "HalfStorage",
                                          .isParameter = isParameter})
                                 .bytes());
    ASSERT_TRUE(pickle.ok()) << pickle.error().text();
    ASSERT_EQ(pickle.value().top().kind, Kind::Tensor);
    const torch::PickledTensor& tensor = pickle.value().top().tensor;
    EXPECT_EQ(tensor.storage, "4");
    EXPECT_EQ(tensor.type, DataType::F16);
    EXPECT_EQ(tensor.offset, 5);
    EXPECT_EQ(tensor.sizes, (std::vector<std::int64_t>{2, 3}));
    EXPECT_EQ(tensor.strides, (std::vector<std::int64_t>{1, 2}));
  }
}

TEST(Pickle, TheStateOfAnOrderedDictIsLeftOut) {
  const auto pickle = read(PickleWriter().stateDict({{"w", {.sizes = {1}, .strides = {1}}}}).bytes());
  ASSERT_TRUE(pickle.ok()) << pickle.error().text();
  ASSERT_EQ(pickle.value().top().kind, Kind::Dict);
  EXPECT_EQ(pickle.value().top().items.size(), 2U);
}

TEST(Pickle, NewerProtocolsAreRead) {
  const std::string bytes(
      "\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00]\x94(\x8c\x01"
      "a\x94h\x01"
      "e.",
      22);
  const auto pickle = read(bytes);
  ASSERT_TRUE(pickle.ok()) << pickle.error().text();
  EXPECT_EQ(pickle.value().top().items.size(), 2U);
}

/// Every name that a pickle may not use is refused where it is named, before anything could be made of it.
TEST(Pickle, EveryOtherGlobalIsRefused) {
  const std::vector<std::pair<std::string, std::string>> kGlobals{
      {"os", "system"},
      {"posix", "system"},
      {"nt", "system"},
      {"subprocess", "Popen"},
      {"subprocess", "check_output"},
      {"builtins", "eval"},
      {"builtins", "exec"},
      {"builtins", "getattr"},
      {"builtins", "__import__"},
      {"builtins", "open"},
      {"__builtin__", "eval"},
      {"__builtin__", "file"},
      {"importlib", "import_module"},
      {"runpy", "run_path"},
      {"pty", "spawn"},
      {"shutil", "rmtree"},
      {"socket", "socket"},
      {"ctypes", "CDLL"},
      {"pickle", "loads"},
      {"marshal", "loads"},
      {"types", "FunctionType"},
      {"types", "CodeType"},
      {"operator", "attrgetter"},
      {"functools", "partial"},
      {"copyreg", "_reconstructor"},
      {"numpy", "load"},
      {"numpy.core.multiarray", "_reconstruct"},
      {"torch", "load"},
      {"torch", "hub"},
      {"torch", "Tensor"},
      {"torch", "Size"},
      {"torch", "FloatTensor"},
      {"torch.hub", "load"},
      {"torch.jit", "load"},
      {"torch.serialization", "load"},
      {"torch.storage", "_load_from_bytes"},
      {"torch.storage", "TypedStorage"},
      {"torch._utils", "_rebuild_tensor"},
      {"torch._utils", "_rebuild_sparse_tensor"},
      {"torch._utils", "_rebuild_qtensor"},
      {"torch._utils", "_rebuild_parameter_with_state"},
      {"torch._utils", "_rebuild_wrapper_subclass"},
      {"torch._utils", "_rebuild_device_tensor_from_numpy"},
      {"torch._utils", "_import_dotted_name"},
      {"torch._export.serde.serialize", "_reconstruct_fake_tensor"},
      {"torch._tensor", "_rebuild_from_type_v2"},
      {"torch.nn.modules.linear", "Linear"},
      {"collections", "defaultdict"},
      {"collections", "namedtuple"},
      {"collections", "OrderedDict.fromkeys"},
      {"collections", ""},
      {"", "OrderedDict"},
      {"transformers.cache_utils", "DynamicCache"},
      {"__main__", "Net"}};
  for (const auto& [module, name] : kGlobals) {
    const std::string called =
        errorOf(PickleWriter().global(module, name).mark().text("true").tuple().raw("R").bytes());
    EXPECT_NE(called.find("at byte 2: names '" + module + " " + name + "'"), std::string::npos) << called;
    EXPECT_NE(called.find("Nothing of the pickle was run"), std::string::npos) << called;
    const std::string byStack = errorOf(PickleWriter().text(module).text(name).raw("\x93").bytes());
    EXPECT_NE(byStack.find("names '" + module + " " + name + "'"), std::string::npos) << byStack;
  }
}

/// All 256 bytes in the place of an opcode: those that are not known are refused with their number.
TEST(Pickle, EveryOtherOpcodeIsRefused) {
  const std::string known =
      "\x80\x95.()t\x85\x86\x87]ae}suN\x88\x89JKM\x8aGX\x8chjqr\x94"
      "c\x93RbQ";
  EXPECT_EQ(known.size(), 35U);
  int refused = 0;
  for (int opcode = 0; opcode < 256; ++opcode) {
    if (known.find(static_cast<char>(opcode)) != std::string::npos) continue;
    const std::string error = errorOf("\x80\x02N" + std::string(1, static_cast<char>(opcode)) + "N.");
    EXPECT_NE(error.find("at byte 3: the opcode 0x"), std::string::npos) << opcode << ": " << error;
    ++refused;
  }
  EXPECT_EQ(refused, 221);
}

TEST(Pickle, WhatIsNotInOrderIsRefusedWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> kCases{
      {"", "cut short"},
      {"\x80\x02", "cut short"},
      {"\x80\x02.", "does not end with exactly one object"},
      {"\x80\x02NN.", "does not end with exactly one object"},
      {"\x80\x02(N.", "does not end with exactly one object"},
      {std::string("\x80\x01N.", 4), "protocol 1"},
      {"\x80\x06N.", "protocol 6"},
      {"\x80\x02t.", "a mark that does not exist"},
      {"\x80\x02Ne.", "a mark that does not exist"},
      {"\x80\x02\x86.", "takes more from the stack"},
      {"\x80\x02(N\x86.", "takes more from the stack"},
      {"\x80\x02NNa.", "something other than a list"},
      {"\x80\x02]NNs.", "something other than a dictionary"},
      {"\x80\x02}(Nu.", "a key without a value"},
      {std::string("\x80\x02h\x00.", 5), "never memorised"},
      {std::string("\x80\x02q\x00.", 5), "not on the stack"},
      {std::string("\x80\x02X\xff\xff\xff\xffzz.", 10), "cut short"},
      {std::string("\x80\x02X\x02\x00\x00\x00\xff\xfe.", 10), "not UTF-8"},
      {std::string("\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00.", 14), "an integer of 9 bytes"},
      {"\x80\x02N)R.", "cannot be called"},
      {"\x80\x02NQ.", "names a storage in a way"},
      {"\x80\x02N}b.", "the state of something other"},
      {PickleWriter().global("torch._utils", "_rebuild_tensor_v2").raw(")R").bytes(), "describes a tensor in a way"},
      {PickleWriter().global("torch._utils", "_rebuild_parameter").raw(")R").bytes(), "describes a parameter in a way"},
      {PickleWriter().global("torch", "FloatStorage").raw(")R").bytes(), "cannot be called"},
      {PickleWriter().global("collections", "OrderedDict").mark().none().tuple().raw("R").bytes(),
       "makes a dictionary"},
      {PickleWriter().raw("c" + std::string(600, 'a')).bytes(), "too long"}};
  for (const auto& [bytes, says] : kCases) {
    const std::string error = errorOf(bytes);
    EXPECT_NE(error.find(says), std::string::npos) << says << "\n" << error;
    EXPECT_NE(error.find("at byte "), std::string::npos) << error;
  }
}

TEST(Pickle, WhatWouldGrowWithoutBoundIsRefused) {
  // A list that holds itself.
  EXPECT_NE(errorOf(std::string("\x80\x02]q\x00h\x00"
                                "a.",
                                9))
                .find("contains itself"),
            std::string::npos);
  // Each tuple holds the one before twice: 2^60 objects in a few hundred bytes.
  std::string doubling("\x80\x02)q\x00", 5);
  for (int i = 0; i < 60; ++i) doubling += std::string("h\x00\x86q\x00", 5);
  EXPECT_NE(errorOf(doubling + ".").find("too many objects"), std::string::npos) << errorOf(doubling + ".");
  // A thousand lists in each other.
  std::string deep = "\x80\x02" + std::string(1000, ']') + std::string(999, 'a') + ".";
  EXPECT_NE(errorOf(deep).find("objects are nested too deeply"), std::string::npos) << errorOf(deep);
  // Two million objects.
  EXPECT_NE(errorOf("\x80\x02(" + std::string(2'000'000, 'N') + "t.").find("too many objects"), std::string::npos);
}

}  // namespace
}  // namespace fusescope::test
