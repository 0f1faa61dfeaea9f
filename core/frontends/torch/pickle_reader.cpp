#include "frontends/torch/pickle_reader.h"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/utf8.h"
#include "frontends/torch/element_types.h"
#include "frontends/torch/pickled_tensors.h"

namespace fusescope::torch {
namespace {

/// The supported opcodes, with Python's names for them (pickletools).
enum Opcode : std::uint8_t {
  kProto = 0x80,
  kFrame = 0x95,
  kStop = '.',
  kMark = '(',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kNone = 'N',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kBinFloat = 'G',
  kBinUnicode = 'X',
  kShortBinUnicode = 0x8c,
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kMemoize = 0x94,
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kReduce = 'R',
  kBuild = 'b',
  kBinPersId = 'Q'
};

constexpr int kNewestProtocol = 5;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostValues = 1'000'000;

struct KnownGlobal {
  PickleGlobal global;
  DataType type = DataType::Undefined;
};

/// Returns the meaning of `module name` in a pickle, or nothing if it is refused.
std::optional<KnownGlobal> knownGlobal(std::string_view module, std::string_view name) {
  if (module == "collections" && name == "OrderedDict") return KnownGlobal{PickleGlobal::OrderedDict};
  if (module == "torch._utils") {
    if (name == "_rebuild_tensor_v2") return KnownGlobal{PickleGlobal::RebuildTensor};
    if (name == "_rebuild_tensor_v3") return KnownGlobal{PickleGlobal::RebuildTypedTensor};
    if (name == "_rebuild_parameter") return KnownGlobal{PickleGlobal::RebuildParameter};
    return std::nullopt;
  }
  if (module == "torch.storage" && name == "UntypedStorage") return KnownGlobal{PickleGlobal::UntypedStorage};
  if (module != "torch") return std::nullopt;
  if (const DataType type = typeOfStorage(name); type != DataType::Undefined)
    return KnownGlobal{PickleGlobal::StorageType, type};
  if (const DataType type = typeOfName(name); type != DataType::Undefined)
    return KnownGlobal{PickleGlobal::ElementType, type};
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : m_bytes(bytes) {}

  Result<Pickle> run() {
    if (m_bytes.size() > kMostBytes) return wrong("the pickle is too large");
    while (!m_stopped) {
      m_at = m_next;
      TRY(step(TRY(byte())));
    }
    if (m_stack.size() != 1 || !m_marks.empty()) return wrong("the pickle does not end with exactly one object");
    m_pickle.root = m_stack.front();
    std::size_t seen = 0;
    TRY(walk(m_pickle.root, 0, seen));
    return std::move(m_pickle);
  }

 private:
  using Kind = PickleValue::Kind;

  Diagnostic wrong(std::string message, std::string help = {}) const {
    return {.message = fmt::format("at byte {}: {}", m_at, message), .help = std::move(help)};
  }

  Status step(std::uint8_t opcode) {
    switch (opcode) {
      case kProto: {
        const std::uint8_t protocol = TRY(byte());
        if (protocol < 2 || protocol > kNewestProtocol)
          return wrong(
              fmt::format("is a pickle of protocol {}; protocols 2 to {} are read", protocol, kNewestProtocol));
        return Done{};
      }
      case kFrame:
        TRY(number(8));
        return Done{};
      case kStop:
        m_stopped = true;
        return Done{};
      case kMark:
        m_marks.push_back(m_stack.size());
        return Done{};
      case kNone:
        return push({.kind = Kind::None});
      case kNewTrue:
      case kNewFalse:
        return push({.kind = Kind::Bool, .flag = opcode == kNewTrue});
      case kBinInt:
        return push({.kind = Kind::Int, .integer = static_cast<std::int32_t>(TRY(number(4)))});
      case kBinInt1:
        return push({.kind = Kind::Int, .integer = static_cast<std::int64_t>(TRY(number(1)))});
      case kBinInt2:
        return push({.kind = Kind::Int, .integer = static_cast<std::int64_t>(TRY(number(2)))});
      case kLong1:
        return push({.kind = Kind::Int, .integer = TRY(longNumber())});
      case kBinFloat:
        return push({.kind = Kind::Float, .number = std::bit_cast<double>(TRY(bigEndian()))});
      case kBinUnicode:
        return push({.kind = Kind::Text, .text = TRY(text(TRY(number(4))))});
      case kShortBinUnicode:
        return push({.kind = Kind::Text, .text = TRY(text(TRY(number(1))))});
      default:
        return stepOnStack(opcode);
    }
  }

  /// Handles opcodes that take something from the stack or the memo.
  Status stepOnStack(std::uint8_t opcode) {
    switch (opcode) {
      case kEmptyTuple:
        return push({.kind = Kind::Tuple});
      case kEmptyList:
        return push({.kind = Kind::List});
      case kEmptyDict:
        return push({.kind = Kind::Dict});
      case kTuple:
        return push({.kind = Kind::Tuple, .items = TRY(aboveMark())});
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return push({.kind = Kind::Tuple, .items = TRY(popped(opcode - std::size_t{kTuple1} + 1))});
      case kAppend:
        return extend(Kind::List, TRY(popped(1)));
      case kAppends:
        return extend(Kind::List, TRY(aboveMark()));
      case kSetItem:
        return extend(Kind::Dict, TRY(popped(2)));
      case kSetItems:
        return extend(Kind::Dict, TRY(aboveMark()));
      case kBinGet:
        return recall(TRY(number(1)));
      case kLongBinGet:
        return recall(TRY(number(4)));
      case kBinPut:
        return remember(TRY(number(1)));
      case kLongBinPut:
        return remember(TRY(number(4)));
      case kMemoize:
        return remember(m_memo.size());
      default:
        return stepOnGlobal(opcode);
    }
  }

  Status stepOnGlobal(std::uint8_t opcode) {
    switch (opcode) {
      case kGlobal: {
        const std::string module = TRY(line());
        return name(module, TRY(line()));
      }
      case kStackGlobal: {
        const auto names = TRY(popped(2));
        if (value(names[0]).kind != Kind::Text || value(names[1]).kind != Kind::Text)
          return wrong("names a global by something other than two strings");
        return name(std::string(value(names[0]).text), std::string(value(names[1]).text));
      }
      case kReduce: {
        const auto call = TRY(popped(2));
        return pushMade(madeByCall(m_pickle, call[0], call[1]));
      }
      case kBinPersId:
        return pushMade(storageOf(m_pickle, TRY(popped(1)).front()));
      case kBuild: {
        // Dictionaries of weights contain versions of their modules in such a state, which are not needed here.
        const auto built = TRY(popped(2));
        if (value(built[0]).kind != Kind::Dict || value(built[1]).kind != Kind::Dict)
          return wrong("sets the state of something other than a dictionary");
        m_stack.push_back(built[0]);
        return Done{};
      }
      default:
        return wrong(fmt::format("the opcode 0x{:02x} is not used for tensors and containers", opcode),
                     "Nothing of the pickle was run.");
    }
  }

  // ---- bytes ----
  Result<std::uint8_t> byte() {
    if (m_next >= m_bytes.size()) return wrong("the pickle is cut short");
    return static_cast<std::uint8_t>(m_bytes[m_next++]);
  }
  Result<std::uint64_t> number(int bytes) {
    std::uint64_t all = 0;
    for (int i = 0; i < bytes; ++i) all |= static_cast<std::uint64_t>(TRY(byte())) << (8 * i);
    return all;
  }
  Result<std::uint64_t> bigEndian() {
    std::uint64_t all = 0;
    for (int i = 0; i < 8; ++i) all = all << 8 | TRY(byte());
    return all;
  }
  Result<std::int64_t> longNumber() {
    const std::uint8_t length = TRY(byte());
    if (length > 8) return wrong(fmt::format("has an integer of {} bytes; at most 64 bits are read", length));
    if (length == 0) return std::int64_t{0};
    const std::uint64_t bits = TRY(number(length));
    const int unused = 64 - 8 * length;
    return static_cast<std::int64_t>(bits << unused) >> unused;
  }
  Result<std::string> text(std::uint64_t length) {
    if (length > m_bytes.size() - m_next) return wrong("a string is cut short");
    const char* begin = reinterpret_cast<const char*>(m_bytes.data()) + m_next;
    m_next += length;
    std::string read(begin, length);
    if (validUtf8(read) != read) return wrong("a string is not UTF-8");
    return read;
  }
  Result<std::string> line() {
    constexpr std::size_t kLongest = 512;
    std::string read;
    for (;;) {
      const char c = static_cast<char>(TRY(byte()));
      if (c == '\n') return read;
      if (read.size() == kLongest) return wrong("the name of a global is too long");
      read += c;
    }
  }

  // ---- stack and memo ----
  PickleValue& value(std::uint32_t index) { return m_pickle.values[index]; }

  Status push(PickleValue value) {
    if (m_pickle.values.size() == kMostValues) return wrong("contains too many objects");
    m_stack.push_back(static_cast<std::uint32_t>(m_pickle.values.size()));
    m_pickle.values.push_back(std::move(value));
    return Done{};
  }
  Status pushMade(Result<PickleValue> made) {
    if (!made.ok()) return wrong(made.error().message, made.error().help);
    return push(std::move(made).value());
  }
  std::size_t floor() const { return m_marks.empty() ? 0 : m_marks.back(); }
  Result<std::vector<std::uint32_t>> popped(std::size_t count) {
    if (m_stack.size() < floor() + count) return wrong("takes more from the stack than the stack contains");
    const std::vector<std::uint32_t> taken(m_stack.end() - static_cast<std::ptrdiff_t>(count), m_stack.end());
    m_stack.resize(m_stack.size() - count);
    return taken;
  }
  Result<std::vector<std::uint32_t>> aboveMark() {
    if (m_marks.empty()) return wrong("goes back to a mark that does not exist");
    const auto taken = popped(m_stack.size() - m_marks.back());
    m_marks.pop_back();
    return taken;
  }
  Status extend(PickleValue::Kind kind, const std::vector<std::uint32_t>& items) {
    if (m_stack.size() <= floor() || value(m_stack.back()).kind != kind)
      return wrong(kind == Kind::List ? "appends to something other than a list"
                                      : "sets an item of something other than a dictionary");
    if (kind == Kind::Dict && items.size() % 2 != 0) return wrong("sets a key without a value");
    m_held += items.size();
    if (m_held > kMostValues) return wrong("contains too many objects");
    auto& into = value(m_stack.back()).items;
    into.insert(into.end(), items.begin(), items.end());
    return Done{};
  }
  Status remember(std::uint64_t key) {
    if (m_stack.size() <= floor()) return wrong("memorises something that is not on the stack");
    m_memo.insert_or_assign(key, m_stack.back());
    return Done{};
  }
  Status recall(std::uint64_t key) {
    const auto known = m_memo.find(key);
    if (known == m_memo.end()) return wrong(fmt::format("refers to object {}, which was never memorised", key));
    if (m_stack.size() >= kMostValues) return wrong("contains too many objects");
    m_stack.push_back(known->second);
    return Done{};
  }
  Status name(const std::string& module, const std::string& name) {
    const auto known = knownGlobal(module, name);
    if (!known)
      return wrong(fmt::format("names '{} {}', which neither tensors nor containers need", module, name),
                   "Nothing of the pickle was run.");
    return push({.kind = Kind::Global, .global = known->global, .type = known->type});
  }

  /// Counts objects as often as they are contained.
  Status walk(std::uint32_t index, int depth, std::size_t& seen) {
    if (depth > Pickle::kDeepest) return wrong("an object contains itself, or objects are nested too deeply");
    if (++seen > Pickle::kMostObjects) return wrong("contains too many objects");
    for (const std::uint32_t item : value(index).items) TRY(walk(item, depth + 1, seen));
    return Done{};
  }

  std::span<const std::byte> m_bytes;
  std::size_t m_at = 0, m_next = 0;  ///< of the opcode that is read, and of what comes next
  bool m_stopped = false;
  Pickle m_pickle;
  std::vector<std::uint32_t> m_stack;
  std::vector<std::size_t> m_marks;  ///< how high the stack was at each
  std::unordered_map<std::uint64_t, std::uint32_t> m_memo;
  std::size_t m_held = 0;  ///< items of lists and dictionaries
};

}  // namespace

Result<Pickle> readPickle(std::span<const std::byte> bytes) {
  return Reader(bytes).run();
}

}  // namespace fusescope::torch
