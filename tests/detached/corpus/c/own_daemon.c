/* A function of its own that happens to have the name: its body is what counts. */
static int daemon(int a, int b) {
    return a + b;
}

int main(void) {
    return daemon(0, 0);
}
