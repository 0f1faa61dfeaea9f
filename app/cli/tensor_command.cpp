#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/files.h"
#include "base/quantities.h"
#include "base/text.h"
#include "interchange/npz.h"
#include "session/inputs/sample_source.h"
#include "session/operations/tensor_operation.h"
#include "session/runs/tensor_slice.h"
#include "session/runs/tensor_statistics.h"
#include "session/runs/tensor_words.h"
#include "session/runs/value_of_both.h"

namespace fusescope::cli {
namespace {

/// The numbers of rows and columns of a slice that are printed for people, and the number of its elements that are
/// printed as JSON.
constexpr std::int64_t kMostRows = 16, kMostColumns = 10, kMostElements = std::int64_t{1} << 22;

using TensorArguments = ArgumentsOf<TensorSettings>;

/// The tensors of one value.
struct Shown {
  std::string kind;    ///< "constant", "input", "made"
  std::string sample;  ///< empty if the tensor is the same for every sample
  std::optional<Samples> samples;
  std::optional<Tensor> only;  ///< the tensor of a constant or input, which is the same in every plan
  ValueOfBoth both;            ///< the tensors of a value that a node calculates
  const Tensor* tensor() const {
    return only ? &*only : both.planned ? &*both.planned : both.exact ? &*both.exact : nullptr;
  }
};

Result<Shown> shownValue(const TensorArguments& arguments, const Artifact& artifact) {
  const NamedValue value = TRY(valueNamed(*artifact.plan, arguments.name));
  if (const Tensor* constant = value.constant()) return Shown{.kind = "constant", .only = *constant};
  if (value.isMade()) {
    TRY(checkAble(artifact, Ability::Run, "run a network"));
    TRY(checkAble(artifact, Ability::InnerValues, "return values inside the network"));
  }
  Shown shown{.kind = value.isMade() || value.isInBody ? "made" : "input"};
  shown.samples = TRY(arguments.inputs.samples(artifact));
  const Sample* sample = TRY(sampleNumber(*shown.samples, arguments.sample));
  shown.sample = sample->name;
  if (shown.kind == "input") {
    shown.only = sample->inputs.at(arguments.name);
    return shown;
  }
  LayerErrorOptions options{.threads = arguments.engine.threads, .progress = progressLine()};
  if (!artifact.backend.empty()) options.backend = artifact.backend;
  shown.both = TRY(valueOfBoth(artifact, arguments.name, *sample, options));
  clearProgressLine();
  return shown;
}

/// The data of one printed column, which shows one tensor.
struct Column : ShownTensor {
  std::optional<TensorSlice> slice;
};

void printStatistics(const std::vector<const ShownTensor*>& shown) {
  std::vector<Table::Column> columns{{""}};
  for (const ShownTensor* of : shown) columns.push_back({of->title, true});
  Table table(columns);
  for (const StatisticsRow& row : statisticsRows(shown)) {
    std::vector<std::string> cells{row.title};
    cells.insert(cells.end(), row.cells.begin(), row.cells.end());
    table.add(std::move(cells));
  }
  table.print();
}

void printSlice(const std::string& heading, const Tensor& tensor, const SliceChoice& choice, const TensorSlice& slice) {
  printTitle(fmt::format("{} [{}]", heading, toText(choice)));
  const std::int64_t rows = std::min(slice.rows, kMostRows), columns = std::min(slice.columns, kMostColumns);
  std::vector<Table::Column> headings{{""}};
  for (std::int64_t column = 0; column < columns; ++column) headings.push_back({std::to_string(column), true});
  Table table(headings);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::vector<std::string> cells{std::to_string(row)};
    for (std::int64_t column = 0; column < columns; ++column)
      cells.push_back(elementText(tensor, slice.elements[slice.cell(row, column)]));
    table.add(std::move(cells));
  }
  table.print();
  if (rows < slice.rows || columns < slice.columns)
    std::cout << fmt::format("the first {} × {} of {} × {}: --json prints all, --npy writes the tensor\n", rows,
                             columns, slice.rows, slice.columns);
}

/// Returns the number as JSON, and NaN and infinities as text, because JSON has no numbers for them.
Json elementJson(double number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

Json sliceJson(const TensorSlice& slice) {
  Json rows = Json::array();
  for (std::int64_t row = 0; row < slice.rows; ++row) {
    rows.push_back(Json::array());
    for (std::int64_t column = 0; column < slice.columns; ++column)
      rows.back().push_back(elementJson(slice.numbers[slice.cell(row, column)]));
  }
  return rows;
}

Status writeNpy(const std::string& path, const std::optional<Tensor>& tensor, const std::string& whyNot) {
  if (path.empty()) return Done{};
  if (!tensor) return Diagnostic{.message = whyNot, .where = {.file = path}};
  return writeFileAtomically(path, TRY(npyBytes(*tensor, path)));
}

Status checkSlice(const Dims& dims, const SliceChoice& choice) {
  const auto extent = [&](int axis) { return axis < 0 ? 1 : dims[static_cast<std::size_t>(axis)]; };
  const std::int64_t elements = extent(choice.rows) * extent(choice.columns);
  if (elements <= kMostElements) return Done{};
  return Diagnostic{.message = fmt::format("the slice has {} elements, but at most {} are printed",
                                           inThousands(elements), inThousands(kMostElements)),
                    .where = {.attribute = "--slice"},
                    .help = "--npy writes the whole tensor."};
}

Result<Column> columnOf(std::string heading, const Tensor& tensor, const std::optional<SliceChoice>& choice) {
  Column column{{std::move(heading), tensor, TRY(statisticsOf(tensor))}, {}};
  if (choice && column.statistics.unavailable.empty())
    column.slice = TRY(sliceOf(tensor, *choice, kMostElements, kMostElements));
  return column;
}

Result<std::vector<Column>> columnsOf(const Shown& shown, const std::optional<SliceChoice>& choice) {
  std::vector<Column> columns;
  if (shown.only) columns.push_back(TRY(columnOf(std::string(name(shown.only->type())), *shown.only, choice)));
  if (shown.both.exact) columns.push_back(TRY(columnOf("float32", *shown.both.exact, choice)));
  if (shown.both.planned)
    columns.push_back(TRY(
        columnOf(fmt::format("this plan, {}{}", name(shown.both.stored), shown.both.codes ? " codes as numbers" : ""),
                 *shown.both.planned, choice)));
  return columns;
}

std::string dimsText(const Tensor& tensor) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : tensor.dims()) extents.push_back(std::to_string(extent));
  return "[" + joined(extents, " × ") + "]";
}

void printForPeople(const TensorArguments& arguments, const Shown& shown, const std::vector<Column>& columns,
                    const std::optional<TensorDifference>& difference) {
  printTitle(arguments.name);
  const Tensor* tensor = shown.tensor();
  const std::string extents =
      tensor != nullptr && tensor->container() == Container::None ? dimsText(*tensor) + ", " : "";
  const std::string how = shown.kind == "constant"       ? "a constant of the network"
                          : shown.kind == "input"        ? "an input of the network, on sample " + shown.sample
                          : shown.both.fusedNode.empty() ? "on sample " + shown.sample
                                                         : fmt::format("calculated by {}, on sample {}",
                                                                       shortened(shown.both.fusedNode), shown.sample);
  std::cout << fmt::format("  {}{}\n", extents, how);
  if (!shown.both.whyNoExact.empty()) std::cout << fmt::format("  in float32: {}\n", shown.both.whyNoExact);
  if (!shown.both.whyNoPlanned.empty()) std::cout << fmt::format("  in this plan: {}\n", shown.both.whyNoPlanned);
  std::vector<const ShownTensor*> numbers;
  for (const Column& column : columns) {
    if (!column.statistics.unavailable.empty()) {
      std::cout << fmt::format("  {}: {}\n", column.title, column.statistics.unavailable);
    } else {
      numbers.push_back(&column);
    }
  }
  if (!numbers.empty()) printStatistics(numbers);
  for (const Column& column : columns)
    if (const std::string words = distinctWords(column.statistics); !words.empty())
      std::cout << fmt::format("{}: {}\n", column.title, words);
  if (difference)
    for (const std::string& words : differenceWords(*difference)) std::cout << words << "\n";
  for (const Column& column : columns)
    if (column.slice) printSlice(column.title, column.tensor, column.slice->choice, *column.slice);
  if (shown.samples) printAboutInputs(*shown.samples);
}

Json columnJson(const Column& column) {
  Json json = {{"type", name(column.tensor.type())},
               {"dims", column.tensor.dims()},
               {"statistics", toJson(column.statistics, column.tensor)}};
  json["slice"] = column.slice ? sliceJson(*column.slice) : Json(nullptr);
  return json;
}

Json reportJson(const TensorArguments& arguments, const Shown& shown, const std::vector<Column>& columns,
                const std::optional<TensorDifference>& difference) {
  Json json = {{"format", "fusescope.tensor"}, {"version", 1}, {"name", arguments.name}, {"kind", shown.kind}};
  json["sample"] = shown.sample.empty() ? Json(nullptr) : Json(shown.sample);
  if (shown.samples) addSamples(json, *shown.samples);
  json["fused_node"] = shown.both.fusedNode.empty() ? Json(nullptr) : Json(shown.both.fusedNode);
  json["codes"] = shown.both.codes;
  std::size_t next = 0;
  const auto put = [&](const char* key, bool there, const std::string& whyNot) {
    json[key] = there ? columnJson(columns[next++]) : Json(nullptr);
    if (!whyNot.empty()) json[std::string("why_no_") + key] = whyNot;
  };
  put("tensor", shown.only.has_value(), {});
  put("exact", shown.both.exact.has_value(), shown.both.whyNoExact);
  put("planned", shown.both.planned.has_value(), shown.both.whyNoPlanned);
  json["difference"] = difference ? toJson(*difference) : Json(nullptr);
  return json;
}

Result<int> tensor(const TensorArguments& arguments, const Artifact& artifact) {
  const SampleSource source = arguments.inputs.source(artifact);
  if (!arguments.npy.empty()) TRY(checkOutput(arguments.npy, "--npy", artifact, source));
  if (!arguments.npyF32.empty()) TRY(checkOutput(arguments.npyF32, "--npy-f32", artifact, source));
  if (!arguments.npz.empty()) TRY(checkOutput(arguments.npz, "--npz", artifact, source));
  const Shown shown = TRY(shownValue(arguments, artifact));
  if (shown.only && !arguments.npz.empty())
    return Diagnostic{.message = "every plan has the same tensor, so there are not two to write",
                      .where = {.file = arguments.npz, .attribute = "--npz"},
                      .help = "Write it with --npy."};
  std::optional<SliceChoice> choice;
  if (!arguments.slice.empty() && shown.tensor() != nullptr)
    choice = TRY(sliceFromText(arguments.slice, shown.tensor()->dims()));
  if (choice) TRY(checkSlice(shown.tensor()->dims(), *choice));
  const std::vector<Column> columns = TRY(columnsOf(shown, choice));
  std::optional<TensorDifference> difference;
  if (shown.both.exact && shown.both.planned) difference = TRY(differenceOf(*shown.both.planned, *shown.both.exact));
  TRY(writeNpy(arguments.npy, shown.only ? shown.only : shown.both.planned, shown.both.whyNoPlanned));
  TRY(writeNpy(arguments.npyF32, shown.both.exact,
               shown.only ? "every plan has the same tensor, which --npy writes" : shown.both.whyNoExact));
  if (!arguments.npz.empty()) TRY(writeValueOfBoth(shown.both, arguments.npz));
  if (arguments.json) {
    printJson(reportJson(arguments, shown, columns, difference));
  } else {
    printForPeople(arguments, shown, columns, difference);
  }
  return kDone;
}

Result<int> tensor(const TensorArguments& arguments) {
  const auto artifact = TRY(open(arguments.path, arguments.plan, &arguments.engine));
  // Checked first, because the advice about assumed extents cannot help if the value does not exist.
  TRY(valueNamed(*artifact.plan, arguments.name));
  return underAssumedExtents(tensor(arguments, artifact), *artifact.plan, !arguments.inputs.source(artifact).empty());
}

}  // namespace

Command tensorCommand(CLI::App& app) {
  return commandOf<TensorSettings>(app, tensorOperation(), tensor);
}

}  // namespace fusescope::cli
