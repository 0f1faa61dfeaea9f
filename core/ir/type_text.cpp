#include "ir/type_text.h"

#include <charconv>

#include "ir/text_form.h"
#include "ir/text_scanner.h"

namespace fusescope {

namespace text_form {
namespace {

Result<Dim> parseExtent(Scanner& in) {
  if (in.accept("?")) return Dim();
  if (!in.peekDigit()) return Dim::named(TRY(in.name()));
  const std::string text = TRY(in.number());
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size()) return in.error("'" + text + "' is not an integer");
  return Dim(size);
}

/// Skips `word` and the following parenthesis if they are next, and returns whether they were.
Result<bool> acceptContainer(Scanner& in, std::string_view word) {
  if (!in.acceptWord(word)) return false;
  TRY(in.expect("("));
  return true;
}

Result<TensorType> parseTensorType(Scanner& in) {
  TensorType type;
  const std::string element = TRY(in.name());
  const auto dtype = dataTypeFromName(element);
  if (!dtype && element != name(DataType::Undefined)) return in.error("'" + element + "' is not an element type");
  type.dtype = dtype.value_or(DataType::Undefined);
  TRY(in.expect("["));
  if (in.accept("...")) {
    TRY(in.expect("]"));
    return type;
  }
  type.shape.ranked = true;
  while (!in.accept("]")) {
    if (!type.shape.dims.empty()) TRY(in.expect(","));
    type.shape.dims.push_back(TRY(parseExtent(in)));
  }
  return type;
}

}  // namespace

Result<TensorType> parseType(Scanner& in) {
  const bool optional = TRY(acceptContainer(in, "optional"));
  const bool sequence = TRY(acceptContainer(in, "sequence"));
  TensorType type = TRY(parseTensorType(in));
  if (sequence) TRY(in.expect(")"));
  if (optional) TRY(in.expect(")"));
  if (sequence)
    type.container = optional ? Container::OptionalSequence : Container::Sequence;
  else if (optional)
    type.container = Container::Optional;
  return type;
}

}  // namespace text_form

std::string typeText(const TensorType& type) {
  std::string text(name(type.dtype));
  if (!type.shape.ranked) return containerText(type.container, text + "[...]");
  text += '[';
  for (std::size_t i = 0; i < type.shape.dims.size(); ++i) {
    const Dim& dim = type.shape.dims[i];
    if (i > 0) text += ", ";
    if (dim.known())
      text += std::to_string(dim.size);
    else
      text += dim.symbol.empty() ? "?" : text_form::isWord(dim.symbol) ? dim.symbol : text_form::quotedText(dim.symbol);
  }
  return containerText(type.container, text + ']');
}

Result<TensorType> parseType(std::string_view text) {
  text_form::Scanner in(text);
  TensorType type = TRY(text_form::parseType(in));
  if (!in.atEnd()) return in.error("there is text after the type");
  return type;
}

}  // namespace fusescope
