#include "app/cli/table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <numeric>

#include "base/json.h"
#include "base/quantities.h"
#include "base/text.h"
#include "base/visible_text.h"

namespace fusescope::cli {
namespace {

bool colours() {
  static const bool kTerminal = isatty(STDOUT_FILENO) == 1;
  return kTerminal;
}

}  // namespace

std::size_t columnsOf(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void Table::print() const {
  // A name may contain line ends or other control characters; they must not break the rows.
  std::vector<std::vector<std::string>> rows = m_rows;
  for (auto& row : rows)
    for (std::string& cell : row) cell = visibleText(cell);
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < m_columns.size(); ++column) {
    std::size_t widest = columnsOf(m_columns[column].heading);
    for (const auto& row : rows) widest = std::max(widest, columnsOf(row[column]));
    widths.push_back(widest);
  }
  const auto line = [&](const auto& cellOf) {
    std::string text = " ";
    for (std::size_t column = 0; column < m_columns.size(); ++column) {
      const std::string cell = cellOf(column);
      const std::string gap(widths[column] - columnsOf(cell), ' ');
      text += " " + (m_columns[column].right ? gap + cell : cell + gap) + " ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  const auto heading = line([&](std::size_t column) { return m_columns[column].heading; });
  std::cout << (colours() ? "\033[2m" + heading + "\033[0m" : heading) << "\n";
  for (const auto& row : rows) std::cout << line([&](std::size_t column) { return row[column]; }) << "\n";
}

void printTitle(std::string_view title) {
  const std::string visible = visibleText(title);
  std::cout << (colours() ? fmt::format("\033[1m{}\033[0m", visible) : visible) << "\n";
}

std::string bytesText(std::optional<std::int64_t> bytes) {
  return bytes ? inBytes(*bytes) : "-";
}

std::string flopsText(std::optional<std::int64_t> flops) {
  if (!flops) return "-";
  constexpr const char* kUnits[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"};
  double number = static_cast<double>(*flops);
  std::size_t unit = 0;
  for (; number >= 1000 && unit + 1 < std::size(kUnits); ++unit) number /= 1000;
  return fmt::format("{:.{}f} {}", number, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string msText(std::optional<double> ms) {
  return ms ? inTime(*ms) : "-";
}

std::string msApartText(std::optional<double> ms) {
  return ms ? inTimeDifference(*ms) : "-";
}

std::string stepsText(const std::vector<double>& stepMs) {
  const double sum = std::accumulate(stepMs.begin(), stepMs.end(), 0.0);
  return fmt::format("{}: mean {}, first {}, last {}", counted(std::ssize(stepMs), "step"),
                     msText(sum / static_cast<double>(stepMs.size())), msText(stepMs.front()), msText(stepMs.back()));
}

std::string msText(std::optional<double> ms, PriceSource how) {
  return (ms && how == PriceSource::Fitted ? "~" : "") + msText(ms);
}

std::string rangeText(double leastMs, double mostMs, PriceSource how) {
  return leastMs == mostMs ? msText(leastMs, how) : msText(leastMs, how) + " to " + msText(mostMs, how);
}

std::string predictedText(const FusedNode& fused) {
  if (!fused.bodyTime || fused.bodyTime->single()) return msText(fused.predictedMs, fused.predictedHow);
  const BodyTime& time = *fused.bodyTime;
  return rangeText(time.leastMs, time.mostMs, time.how) + (time.perIteration ? " an iteration" : "");
}

std::string rangeText(const std::string& least, const std::string& most) {
  return least == most ? least : least + " … " + most;
}

std::string extentsText(const Json& extents, std::string_view absent, std::string_view separator) {
  if (extents.is_null()) return std::string(absent);
  std::vector<std::string> texts;
  for (const Json& extent : extents)
    texts.push_back(extent.is_string() ? extent.get<std::string>() : extent.is_null() ? "?" : extent.dump());
  return "[" + joined(texts, separator) + "]";
}

std::string textOr(const Json& json, std::string_view otherwise) {
  return json.is_string() && !json.get<std::string>().empty() ? json.get<std::string>() : std::string(otherwise);
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  auto head = most / 2, tail = text.size() - (most - 1 - most / 2);
  while (head > 0 && (static_cast<unsigned char>(text[head]) & 0xc0) == 0x80) --head;
  while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xc0) == 0x80) ++tail;
  return std::string(text.substr(0, head)) + "…" + std::string(text.substr(tail));
}

}  // namespace fusescope::cli
