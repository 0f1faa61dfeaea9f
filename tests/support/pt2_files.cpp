#include "tests/support/pt2_files.h"

#include "base/json.h"

#include <bit>
#include <numeric>

namespace fusescope::test {
namespace {

std::string little(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

std::uint32_t checkSum(std::string_view bytes) {
  std::uint32_t sum = ~0u;
  for (const char byte : bytes) {
    sum ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~sum;
}

/// Returns a deflate stream whose blocks are not compressed.
std::string deflated(std::string_view bytes) {
  constexpr std::size_t kMost = 65535;
  std::string stream;
  for (std::size_t at = 0;;) {
    const std::string_view block = bytes.substr(at, kMost);
    at += block.size();
    stream += at == bytes.size() ? '\x01' : '\x00';
    stream += little(block.size(), 2) + little(~block.size(), 2);
    stream += block;
    if (at == bytes.size()) return stream;
  }
}

std::string listOf(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + ("{\"as_int\": " + std::to_string(number) + "}");
  return "[" + text + "]";
}

/// Returns the text {"config": {…}} with which a PT2 archive describes tensors whose bytes are in members "PREFIX_KEY".
std::string configOf(const std::vector<std::pair<std::string, StoredTensor>>& tensors, const std::string& prefix) {
  std::string entries;
  for (const auto& [name, tensor] : tensors)
    entries += (entries.empty() ? "\"" : ", \"") + name + "\": {\"path_name\": \"" + prefix + tensor.key +
               "\", \"is_param\": true, \"use_pickle\": false, \"tensor_meta\": {\"dtype\": 7, \"sizes\": " +
               listOf(tensor.sizes) + ", \"requires_grad\": true, \"device\": {\"type\": \"cpu\", \"index\": null}, " +
               "\"strides\": " + listOf(tensor.strides) +
               ", \"storage_offset\": {\"as_int\": " + std::to_string(tensor.offset) + "}, \"layout\": 7}}";
  return "{\"config\": {" + entries + "}}";
}

constexpr std::string_view kSmallProgram = R"json({
  "graph_module": {
    "graph": {
      "inputs": [{"as_tensor": {"name": "p_fc_weight"}}, {"as_tensor": {"name": "p_fc_bias"}},
                 {"as_tensor": {"name": "c_tied"}}, {"as_tensor": {"name": "x"}}, {"as_float": 3.0}],
      "outputs": [{"as_tensor": {"name": "add"}}],
      "nodes": [
        {"target": "torch.ops.aten.linear.default",
         "inputs": [{"name": "input", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
                    {"name": "weight", "arg": {"as_tensor": {"name": "p_fc_weight"}}, "kind": 1},
                    {"name": "bias", "arg": {"as_tensor": {"name": "p_fc_bias"}}, "kind": 1}],
         "outputs": [{"as_tensor": {"name": "linear"}}],
         "metadata": {"stack_trace": "  File \"net.py\", line 7, in forward\n    return self.fc(x) + y",
                      "nn_module_stack": "L__self__,,net.Net;L__self__fc,fc,torch.nn.modules.linear.Linear"},
         "is_hop_single_tensor_return": null, "name": "linear"},
        {"target": "torch.ops.aten.add.Tensor",
         "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "linear"}}, "kind": 1},
                    {"name": "other", "arg": {"as_tensor": {"name": "c_tied"}}, "kind": 1},
                    {"name": "alpha", "arg": {"as_int": 2}, "kind": 2}],
         "outputs": [{"as_tensor": {"name": "add"}}],
         "metadata": {"nn_module_stack": "L__self__,,net.Net"}, "is_hop_single_tensor_return": null, "name": "add"}],
      "tensor_values": {
        "x": {"dtype": 7, "sizes": [BATCH, {"as_int": 4}], "requires_grad": false,
              "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 4}, {"as_int": 1}],
              "storage_offset": {"as_int": 0}, "layout": 7},
        "linear": {"dtype": 7, "sizes": [BATCH, {"as_int": 3}], "requires_grad": false,
              "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}],
              "storage_offset": {"as_int": 0}, "layout": 7},
        "add": {"dtype": 7, "sizes": [BATCH, {"as_int": 3}], "requires_grad": false,
              "device": {"type": "cpu", "index": null}, "strides": [{"as_int": 3}, {"as_int": 1}],
              "storage_offset": {"as_int": 0}, "layout": 7}},
      "sym_int_values": {}, "sym_bool_values": {}, "is_single_tensor_return": false, "custom_obj_values": {}},
    "signature": {
      "input_specs": [{"parameter": {"arg": {"name": "p_fc_weight"}, "parameter_name": "fc.weight"}},
                      {"parameter": {"arg": {"name": "p_fc_bias"}, "parameter_name": "fc.bias"}},
                      {"tensor_constant": {"arg": {"name": "c_tied"}, "tensor_constant_name": "tied"}},
                      {"user_input": {"arg": {"as_tensor": {"name": "x"}}}},
                      {"constant_input": {"name": "y", "value": {"as_float": 3.0}}}],
      "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "add"}}}}]},
    "module_call_graph": [
      {"fqn": "", "signature": {"inputs": [], "outputs": [],
        "in_spec": "[1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [{\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [{\"type\": null, \"context\": null, \"children_spec\": []}, {\"type\": null, \"context\": null, \"children_spec\": []}]}, {\"type\": \"builtins.dict\", \"context\": \"[]\", \"children_spec\": []}]}]",
        "out_spec": "[1, {\"type\": null, \"context\": null, \"children_spec\": []}]",
        "forward_arg_names": ["picture", "factor"]}},
      {"fqn": "fc", "signature": null}],
    "metadata": {}},
  "opset_version": {"aten": 10},
  "range_constraints": {"s0": {"min_val": 2, "max_val": 16}},
  "schema_version": {"major": MAJOR, "minor": MINOR},
  "verifiers": ["TRAINING"], "torch_version": "2.11.0", "guards_code": []})json";

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

std::string zipBytes(const std::vector<ZipMember>& members) {
  std::string archive, directory;
  for (const ZipMember& member : members) {
    const std::string packed = member.deflated ? deflated(member.content) : member.content;
    const std::string common = little(0, 2) + little(member.deflated ? 8 : 0, 2) + little(0x00210000, 4) +
                               little(checkSum(member.content), 4) + little(packed.size(), 4) +
                               little(member.content.size(), 4) + little(member.name.size(), 2) + little(0, 2);
    directory += little(0x02014b50, 4) + little(20, 2) + little(20, 2) + common + little(0, 2) + little(0, 2) +
                 little(0, 2) + little(0, 4) + little(archive.size(), 4) + member.name;
    archive += little(0x04034b50, 4) + little(20, 2) + common + member.name + packed;
  }
  const std::uint64_t begin = archive.size();
  return archive + directory + little(0x06054b50, 4) + little(0, 4) + little(members.size(), 2) +
         little(members.size(), 2) + little(directory.size(), 4) + little(begin, 4) + little(0, 2);
}

PickleWriter& PickleWriter::integer(std::int64_t value) {
  if (value >= 0 && value < 256) return raw("K" + little(static_cast<std::uint64_t>(value), 1));
  if (value >= 0 && value < 65536) return raw("M" + little(static_cast<std::uint64_t>(value), 2));
  if (value == static_cast<std::int32_t>(value)) return raw("J" + little(static_cast<std::uint64_t>(value), 4));
  return raw(std::string("\x8a\x08") + little(static_cast<std::uint64_t>(value), 8));
}

PickleWriter& PickleWriter::number(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  raw("G");
  for (int i = 7; i >= 0; --i) raw(std::string(1, static_cast<char>(bits >> (8 * i))));
  return *this;
}

PickleWriter& PickleWriter::text(std::string_view value) {
  return raw("X" + little(value.size(), 4)).raw(value);
}

PickleWriter& PickleWriter::global(std::string_view module, std::string_view name) {
  return raw("c").raw(module).raw("\n").raw(name).raw("\n");
}

PickleWriter& PickleWriter::integers(const std::vector<std::int64_t>& values) {
  mark();
  for (const std::int64_t value : values) integer(value);
  return tuple();
}

PickleWriter& PickleWriter::tensor(const StoredTensor& tensor) {
  std::uint64_t product = 1;  // may be any number in a damaged file
  for (const std::int64_t size : tensor.sizes) product *= static_cast<std::uint64_t>(size);
  const auto elements = static_cast<std::int64_t>(product);
  if (tensor.isParameter) global("torch._utils", "_rebuild_parameter").mark();
  global("torch._utils", "_rebuild_tensor_v2").mark();
  mark().text("storage").global("torch", tensor.storage).text(tensor.key).text("cpu").integer(elements).tuple();
  raw("Q").integer(tensor.offset).integers(tensor.sizes).integers(tensor.strides).boolean(false);
  global("collections", "OrderedDict").raw(")R").tuple().raw("R");
  if (tensor.isParameter) boolean(true).global("collections", "OrderedDict").raw(")R").tuple().raw("R");
  return *this;
}

PickleWriter& PickleWriter::stateDict(const std::vector<std::pair<std::string, StoredTensor>>& tensors) {
  global("collections", "OrderedDict").raw(")Rq").raw(std::string_view("\0", 1)).mark();
  for (const auto& [name, stored] : tensors) text(name).tensor(stored);
  // Adds the versions of modules, which state_dict() keeps as an attribute of the dictionary.
  return raw("u}").text("_metadata").global("collections", "OrderedDict").raw(")Rsb");
}

std::string savedBytes(const std::string& pickle, const std::map<std::string, std::string>& storages) {
  std::vector<ZipMember> members{{.name = "archive/data.pkl", .content = pickle},
                                 {.name = "archive/byteorder", .content = "little"}};
  for (const auto& [key, bytes] : storages) members.push_back({.name = "archive/data/" + key, .content = bytes});
  members.push_back({.name = "archive/version", .content = "3\n"});
  return zipBytes(members);
}

std::string pt2Bytes(Pt2Kind kind, const Pt2Content& content) {
  const std::string weights = savedBytes(PickleWriter().stateDict(content.weights).bytes(), content.storages);
  const std::string constants = savedBytes(PickleWriter().stateDict(content.constants).bytes(), content.storages);
  std::vector<ZipMember> members;
  if (kind == Pt2Kind::PlainZip) {
    members = {{.name = "serialized_exported_program.json", .content = content.program},
               {.name = "serialized_state_dict.pt", .content = weights},
               {.name = "serialized_constants.pt", .content = constants},
               {.name = "serialized_example_inputs.pt", .content = content.examples},
               {.name = "version", .content = "8.2"}};
  } else {
    members = {{.name = "net/archive_format", .content = "pt2"},
               {.name = "net/models/model.json", .content = content.program},
               {.name = "net/archive_version", .content = "0"},
               {.name = "net/byteorder", .content = "little"}};
    if (!content.examples.empty())
      members.push_back({.name = "net/data/sample_inputs/model.pt", .content = content.examples});
  }
  if (kind == Pt2Kind::PickledWeights) {
    members.push_back({.name = "net/data/weights/model.pt", .content = weights});
    members.push_back({.name = "net/data/constants/model.pt", .content = constants});
  } else if (kind == Pt2Kind::RawWeights) {
    members.push_back(
        {.name = "net/data/weights/model_weights_config.json", .content = configOf(content.weights, "weight_")});
    members.push_back(
        {.name = "net/data/constants/model_constants_config.json", .content = configOf(content.constants, "tensor_")});
    for (const auto& [key, bytes] : content.storages) {
      members.push_back({.name = "net/data/weights/weight_" + key, .content = bytes});
      members.push_back({.name = "net/data/constants/tensor_" + key, .content = bytes});
    }
  }
  for (ZipMember& member : members) member.deflated = content.deflated;
  return zipBytes(members);
}

std::string symbolicExtent(const std::string& expression, std::int64_t hint) {
  return R"json({"as_expr": {"expr_str": ")json" + expression + R"json(", "hint": {"as_int": )json" +
         std::to_string(hint) + "}}}";
}

Pt2Content smallProgram(const std::string& schema) {
  const bool isOld = schema.starts_with("7");
  const std::string batch = symbolicExtent(isOld ? "s0" : "Symbol('s0', positive=True, integer=True)", 5);
  std::vector<float> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0.5f);
  Pt2Content content;
  content.program = replaced(std::string(kSmallProgram), "BATCH", batch);
  content.program = replaced(content.program, "MAJOR", schema.substr(0, schema.find('.')));
  content.program = replaced(content.program, "MINOR", schema.substr(schema.find('.') + 1));
  content.weights = {{"fc.weight", {.key = "0", .sizes = {3, 4}, .strides = {4, 1}, .isParameter = true}},
                     {"fc.bias", {.key = "1", .sizes = {3}, .strides = {1}}}};
  content.constants = {{"tied", {.key = "0", .sizes = {3}, .strides = {1}, .offset = 8}}};
  content.storages = {{"0", bytesOf(numbers)}, {"1", bytesOf(std::vector<float>{1, 2, 3})}};
  PickleWriter examples;
  examples.mark().tensor({.key = "0", .sizes = {5, 4}, .strides = {1, 5}}).number(3.0).tuple().raw("}\x86");
  std::vector<float> picture(20);
  std::iota(picture.begin(), picture.end(), 0.0f);
  content.examples = savedBytes(examples.bytes(), {{"0", bytesOf(picture)}});
  return content;
}

}  // namespace fusescope::test
